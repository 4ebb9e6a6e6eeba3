import type { ComponentChildren } from 'preact';

interface BreadcrumbProps {
  /** Links to the pages above this one, the highest first. */
  readonly above: readonly ComponentChildren[];
  /** Name of this page. */
  readonly here: ComponentChildren;
}

/** The place of a page below others. */
export function Breadcrumb({ above, here }: BreadcrumbProps) {
  return (
    <nav class="crumbs" aria-label="Breadcrumb">
      <ol>
        {above.map((link, index) => (
          <li key={index}>{link}</li>
        ))}
        <li aria-current="page">{here}</li>
      </ol>
    </nav>
  );
}
