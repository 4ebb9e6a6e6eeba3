import type { ComponentChildren } from 'preact';
import { type Columns, Heads } from './sorting.js';

interface PlainTableProps {
  /** Name of the table for screen readers. */
  readonly label: string;
  /** Titles, or the columns by which the rows can be sorted. */
  readonly columns: readonly string[] | Columns<never>;
  /** Class for the style sheet: `cards` makes a card of each row on a narrow screen. */
  readonly kind?: 'cards';
  /** The rows. */
  readonly children: ComponentChildren;
}

/** A table with its own scrollbars. It can get the focus, so that the keyboard can scroll it, too. */
export function PlainTable({ label, columns, kind, children }: PlainTableProps) {
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      <table class={kind ? `plain ${kind}` : 'plain'}>
        <thead>
          <tr>
            {isTitles(columns) ? (
              columns.map((column) => (
                <th key={column} scope="col">
                  {column}
                </th>
              ))
            ) : (
              <Heads columns={columns} />
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}

function isTitles(columns: PlainTableProps['columns']): columns is readonly string[] {
  return Array.isArray(columns);
}
