import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';

export interface VisibleRows {
  /** Index of the first row in the document. */
  readonly first: number;
  /** Index of the first row after those in the document. */
  readonly end: number;
  /** px; 0 if it is not measured yet. */
  readonly rowHeight: number;
}

/**
 * Number of rows that stay in the document above and below the visible ones, so that the Tab key finds the next link.
 */
const MARGIN = 10;

/**
 * Computes which rows of a long list are visible. All rows have the height `--row-height` of the style sheet. So
 * thousands of rows cost no more than those on the screen.
 */
export function useVisibleRows(list: RefObject<HTMLElement | null>, total: number): VisibleRows {
  const [rows, setRows] = useState<VisibleRows>({ first: 0, end: Math.min(total, 40), rowHeight: 0 });
  useLayoutEffect(() => {
    const measure = () => setRows((before) => same(before, visibleRows(list.current!, total)));
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [list, total]);
  return rows;
}

function visibleRows(element: HTMLElement, total: number): VisibleRows {
  const rowHeight = Number.parseFloat(getComputedStyle(element).getPropertyValue('--row-height')) || 64;
  const above = -element.getBoundingClientRect().top;
  const first = Math.floor(above / rowHeight) - MARGIN;
  const end = Math.ceil((above + innerHeight) / rowHeight) + MARGIN;
  return { first: clamp(first, total), end: clamp(end, total), rowHeight };
}

function clamp(index: number, total: number): number {
  return Math.max(0, Math.min(total, index));
}

/** Returns the former object if nothing changed, so that nothing is drawn again. */
function same(before: VisibleRows, after: VisibleRows): VisibleRows {
  const { first, end, rowHeight } = before;
  return first === after.first && end === after.end && rowHeight === after.rowHeight ? before : after;
}
