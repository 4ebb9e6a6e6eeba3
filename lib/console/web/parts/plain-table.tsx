import type { ComponentChildren } from 'preact';
import { type Column, type Columns, textOf } from '../../lists/column.js';
import { clusterTime } from '../live/cluster-time.js';
import { Heads, SortChoice, sorted } from './sorting.js';
import { DateTime } from './time.js';

/** How the page shows a cell, where it shows more than the text of the column. */
export interface Cell<Row> {
  readonly show?: (row: Row) => ComponentChildren;
  /** Default: that of numbers, for a number. */
  readonly class?: string;
  readonly title?: (row: Row) => string | undefined;
  /** Whether a card of a narrow screen says what the value is. Default false: it says that by itself. */
  readonly isNamed?: boolean | ((row: Row) => boolean);
}

/** Cells by the names of their columns. */
export type Cells<Row, Name extends string = string> = Readonly<Partial<Record<Name, Cell<Row>>>>;

interface PlainTableProps<Row, Name extends string> {
  /** Name of the table for screen readers. */
  readonly label: string;
  readonly columns: Columns<Row, Name>;
  /** In their own order, which the address may replace. */
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string | number;
  readonly cells?: Cells<NoInfer<Row>, Name>;
  readonly rowClass?: (row: Row) => string;
}

/** The table of a list. */
export function PlainTable<Row, Name extends string>(props: PlainTableProps<Row, Name>) {
  const { label, columns, rows, keyOf, cells = {}, rowClass } = props;
  const shown = Object.entries<Column<Row>>(columns);
  const cellOf: Cells<Row> = cells;
  return (
    <TableFrame label={label} columns={columns}>
      {sorted(rows, columns).map((row) => (
        <tr key={keyOf(row)} class={rowClass?.(row)}>
          {shown.map(([name, column]) => (
            <TableCell key={name} column={column} cell={cellOf[name]} row={row} />
          ))}
        </tr>
      ))}
    </TableFrame>
  );
}

interface TableCellProps<Row> {
  readonly column: Column<Row>;
  readonly cell: Cell<Row> | undefined;
  readonly row: Row;
}

function TableCell<Row>({ column, cell = {}, row }: TableCellProps<Row>) {
  const value = column.value(row);
  const { show, class: own = typeof value === 'number' ? 'number' : undefined, title, isNamed } = cell;
  const usual = () =>
    column.kind === 'time' && typeof value === 'number' ? (
      <DateTime at={value} />
    ) : (
      textOf(column, row, clusterTime.peek(), '')
    );
  const hasLabel = typeof isNamed === 'function' ? isNamed(row) : isNamed;
  return (
    <td class={own} title={title?.(row)} data-label={hasLabel ? column.title : undefined}>
      {(show ?? usual)(row)}
    </td>
  );
}

interface TableFrameProps {
  readonly label: string;
  readonly columns: Columns<never>;
  /** The rows. */
  readonly children: ComponentChildren;
}

/**
 * A table with its own scrollbar. It can get the focus, so that the keyboard can scroll it, too. On a narrow screen each row
 * is a card, in which `data-label` names a value.
 */
export function TableFrame({ label, columns, children }: TableFrameProps) {
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      <SortChoice columns={columns} />
      <table class="plain">
        <thead>
          <tr>
            <Heads columns={columns} />
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
