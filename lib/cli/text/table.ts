import width from 'string-width';
import { type Columns, textOf } from '../../console/lists/column.js';
import { plain } from './plain.js';

const GAP = '  ';
/** A longer cell makes its own row longer, and not the column of all others. */
const WIDEST = 48;

/**
 * Head and rows of a list, for a {@link table} or an {@link excerpt}. A missing value is a dash.
 *
 * @param now cluster time, for columns with a distance from it
 */
export function cellsOf<Row>(
  columns: Columns<Row>,
  rows: readonly Row[],
  now = NaN,
): [head: readonly string[], rows: readonly (readonly string[])[]] {
  const all = Object.values(columns);
  return [all.map(({ title }) => title), rows.map((row) => all.map((column) => textOf(column, row, now, '-')))];
}

/**
 * Formats a table with aligned columns and a head in capitals. Cells may have foreign text, so they are made {@link
 * plain}.
 */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head.map((cell) => cell.toUpperCase()), ...rows].map((cells) => cells.map(plain));
  const widths = head.map((_, column) => lines.reduce((widest, cells) => wider(widest, width(cells[column]!)), 0));
  return lines.map((cells) => aligned(cells, widths)).join('\n');
}

function wider(widest: number, cell: number): number {
  return cell > WIDEST ? widest : Math.max(widest, cell);
}

/** Maximum number of rows of an excerpt, to fit on a screen. */
const MOST_SHOWN = 40;

/** Formats a {@link table} of the first rows, and counts the others. */
export function excerpt(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const more = rows.length - MOST_SHOWN;
  const shown = table(head, rows.slice(0, MOST_SHOWN));
  return more > 0 ? `${shown}\n... and ${more} more (--json shows all)` : shown;
}

/** Formats pairs of a name and a value, one per line. Leaves out pairs without a value. */
export function fields(pairs: readonly (readonly [string, string | undefined])[]): string {
  const given = pairs.filter((pair): pair is readonly [string, string] => pair[1] !== undefined);
  const widest = given.reduce((most, [name]) => Math.max(most, width(name)), 0);
  return given.map(([name, value]) => aligned([name, plain(value)], [widest, 0])).join('\n');
}

function aligned(cells: readonly string[], widths: readonly number[]): string {
  return cells
    .map((cell, column) => cell + ' '.repeat(Math.max(0, widths[column]! - width(cell))))
    .join(GAP)
    .trimEnd();
}
