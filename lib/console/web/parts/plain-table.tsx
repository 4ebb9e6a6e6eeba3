import type { ComponentChildren } from 'preact';
import { type Columns, Heads, SortChoice } from './sorting.js';

interface PlainTableProps {
  /** Name of the table for screen readers. */
  readonly label: string;
  /** Titles, or the columns by which the rows can be sorted. */
  readonly columns: readonly string[] | Columns<never>;
  /** The rows. */
  readonly children: ComponentChildren;
}

/** Characters of a title, such as the name of a node, that the style sheet may cut. */
const LONG_TITLE = 12;

/**
 * A table with its own scrollbar. It can get the focus, so that the keyboard can scroll it, too. On a narrow screen each row
 * is a card, in which `data-label` names a value.
 */
export function PlainTable({ label, columns, children }: PlainTableProps) {
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      {!isTitles(columns) && <SortChoice columns={columns} />}
      <table class="plain">
        <thead>
          <tr>
            {isTitles(columns) ? (
              columns.map((column) => (
                <th key={column} scope="col" title={column.length > LONG_TITLE ? column : undefined}>
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
