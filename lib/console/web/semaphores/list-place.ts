import type { RefObject } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { cameFrom, hrefOf, route } from '../parts/router.js';

/** The row whose link was followed last, and its distance from the top of the window in px. */
let opened: { readonly name: string; readonly top: number } | undefined;
let lastQuery: Record<string, string> = {};

/** Returns the address of the list with the search that it had when the user left it. */
export function listHref(): string {
  return hrefOf(['work'], lastQuery);
}

/** Remembers the place in the list. Call this when the user follows the link of a row. */
export function leaveBy(name: string, link: Element): void {
  opened = { name, top: link.closest('tr')!.getBoundingClientRect().top };
  lastQuery = Object.fromEntries(route.value.query);
}

interface Rows {
  readonly list: RefObject<HTMLElement | null>;
  /** Names of all rows, in their order. */
  readonly names: readonly string[];
  /** px; 0 if it is not known yet. */
  readonly rowHeight: number;
}

/**
 * Restores the place in the list when a user comes back from a semaphore. The row of that semaphore is at the same
 * place on the screen, even if the list has changed, and its link has the focus.
 *
 * @returns a function to call with each link as soon as the link is in the document
 */
export function useReturn({ list, names, rowHeight }: Rows): (name: string, link: HTMLElement | null) => void {
  const [goal] = useState((): Goal => ({ name: semaphoreLeft(), isPlaced: false }));
  useLayoutEffect(() => {
    const index = goal.name === undefined ? -1 : names.indexOf(goal.name);
    if (index < 0 || rowHeight === 0) return;
    const top = opened && opened.name === goal.name ? opened.top : innerHeight / 3;
    scrollTo(0, scrollY + list.current!.getBoundingClientRect().top + index * rowHeight - top);
    goal.isPlaced = true;
    settle(goal);
  }, [rowHeight]);
  return (name, link) => {
    if (!link || name !== goal.name) return;
    goal.link = link;
    settle(goal);
  };
}

interface Goal {
  /** Name of the semaphore; undefined after the place is restored. */
  name: string | undefined;
  link?: HTMLElement;
  isPlaced: boolean;
}

/** Called after the scrolling and after the link exists, in any order. The second call focuses the link. */
function settle(goal: Goal): void {
  if (!goal.isPlaced || !goal.link) return;
  goal.link.focus({ preventScroll: true });
  goal.name = undefined;
}

function semaphoreLeft(): string | undefined {
  const [page, name] = cameFrom()?.path ?? [];
  return page === 'work' ? name : undefined;
}
