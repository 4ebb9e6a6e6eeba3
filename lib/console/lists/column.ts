import { formatDuration } from '../../operate/insight/format-duration.js';
import { timeText } from './texts.js';

/*
 * The lists of this folder are data, which the command line and the page share: each draws its own tables of them. The page may
 * show more than the text in a cell, such as a link. So this folder imports nothing but types and files of words.
 */

/** A column of a list. */
export interface Column<Row> {
  /** Its head. The command line writes it in capitals. */
  readonly title: string;
  /** The page sorts by it; rows without a value come last. */
  readonly value: (row: Row) => string | number | undefined;
  /** The form of the value. Default: as it is. A time is in ms since the epoch, a duration in ms. */
  readonly kind?: 'time' | 'duration';
  /** Another text than the value in its form, if there is a value. @param now cluster time in ms since the epoch */
  readonly text?: (row: Row, now: number) => string;
  /** Direction of the first click. Absent: the list can't be sorted by this column. */
  readonly firstOrder?: 'ascending' | 'descending';
}

/** The columns of a list by their names, from the left to the right. The page has the names in its address. */
export type Columns<Row, Name extends string = string> = Readonly<Record<Name, Column<Row>>>;

/** The text of a cell. @param none stands for a value that is missing */
export function textOf<Row>({ value, kind, text }: Column<Row>, row: Row, now: number, none: string): string {
  const given = value(row);
  if (given === undefined) return none;
  if (text) return text(row, now);
  if (typeof given === 'string') return given;
  return kind === 'time' ? timeText(given) : kind === 'duration' ? formatDuration(given) : String(given);
}

/** Some columns of a list, in this order. */
export function pick<Row, Name extends string, Picked extends Name>(
  columns: Columns<Row, Name>,
  names: readonly Picked[],
): Columns<Row, Picked> {
  return Object.fromEntries(names.map((name) => [name, columns[name]])) as Columns<Row, Picked>;
}

/** Columns of one type for rows of another that contain it. @param shownBy the part of a row that the columns show */
export function columnsOf<Row, Shown, Name extends string>(
  columns: Columns<Shown, Name>,
  shownBy: (row: Row) => Shown,
): Columns<Row, Name> {
  const all = Object.entries<Column<Shown>>(columns).map(([name, { value, text, ...column }]) => [
    name,
    {
      ...column,
      value: (row: Row) => value(shownBy(row)),
      ...(text && { text: (row: Row, now: number) => text(shownBy(row), now) }),
    },
  ]);
  return Object.fromEntries(all) as Columns<Row, Name>;
}

/** A column of controls or drawings. */
export function withoutValue(title: string): Column<unknown> {
  return { title, value: () => undefined };
}
