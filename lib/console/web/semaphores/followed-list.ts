import type { SemaphoreOverview, SemaphorePartsAnswer, StalePart } from '../api/answers.js';
import { pathOf } from '../api/call.js';
import type { LiveOptions } from '../live/live-query.js';

/** All semaphores, of which only the parts that changed are loaded again. */
export interface FollowedList {
  /** Sorted by name. The same array while no part changed. */
  readonly semaphores: readonly SemaphoreOverview[];
  readonly stale: readonly StalePart[];
  /** Stands for the loaded parts in the next request. */
  readonly known: string;
  readonly parts: ReadonlyMap<number, readonly SemaphoreOverview[]>;
}

export const FOLLOWED: LiveOptions<SemaphorePartsAnswer, FollowedList> = {
  changes: {
    pathAfter: (shown) => pathOf('semaphoreParts', { query: { known: shown?.known } }),
    merged,
  },
};

function merged(shown: FollowedList | undefined, { known, changed, stale }: SemaphorePartsAnswer): FollowedList {
  if (shown && changed.length === 0) return { ...shown, known, stale };
  const parts = new Map(shown?.parts);
  for (const { part, items } of changed) parts.set(part, items);
  const semaphores = [...parts.values()].flat().toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return { semaphores, stale, known, parts };
}
