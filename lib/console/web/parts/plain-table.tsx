import type { ComponentChildren } from 'preact';

interface PlainTableProps {
  /** Its name for screen readers. */
  readonly label: string;
  readonly columns: readonly string[];
  /** Its rows. */
  readonly children: ComponentChildren;
}

/** A table that scrolls by itself, in both directions; the keyboard can do that, too. */
export function PlainTable({ label, columns, children }: PlainTableProps) {
  return (
    <div class="scroll" role="group" aria-label={label} tabIndex={0}>
      <table class="plain">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
