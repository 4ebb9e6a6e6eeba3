import width from 'string-width';
import { plain } from './plain.js';

const GAP = '  ';

/** Lines of aligned columns, the head in capitals. Cells may contain foreign text, so they are made {@link plain}. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head.map((cell) => cell.toUpperCase()), ...rows].map((cells) => cells.map(plain));
  const widths = head.map((_, column) => lines.reduce((widest, cells) => Math.max(widest, width(cells[column]!)), 0));
  return lines.map((cells) => aligned(cells, widths)).join('\n');
}

/** More lines than this do not fit on a screen. */
const MOST_SHOWN = 40;

/** As {@link table}, but of many rows only the first ones, with a count of the others. */
export function excerpt(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const more = rows.length - MOST_SHOWN;
  const shown = table(head, rows.slice(0, MOST_SHOWN));
  return more > 0 ? `${shown}\n... and ${more} more (--json shows all)` : shown;
}

/** Pairs of a name and a value, one per line; pairs without a value are left out. */
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
