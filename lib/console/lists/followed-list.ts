import type { SemaphoreOverview, StalePart } from '../../gatekeeper/index.js';
import type { SemaphorePartsAnswer } from '../api/answers.js';

/** All semaphores, of which only the parts that changed are loaded again. */
export interface FollowedList {
  /** Cluster time of the last answer: ms since the epoch. */
  readonly now: number;
  /** Sorted by name. The same array while no part changed. */
  readonly semaphores: readonly SemaphoreOverview[];
  readonly stale: readonly StalePart[];
  /** Stands for the loaded parts in the next request. Absent while there are none. */
  readonly known: string | undefined;
  readonly parts: ReadonlyMap<number, readonly SemaphoreOverview[]>;
}

/** The list after an answer. @param former the list before it; absent: this is the first answer */
export function followed(former: FollowedList | undefined, answer: SemaphorePartsAnswer): FollowedList {
  const { now, known = former?.known, changed, stale } = answer;
  if (former && changed.length === 0) return { ...former, now, stale };
  const parts = new Map(former?.parts);
  for (const { part, items } of changed) parts.set(part, items);
  const semaphores = [...parts.values()].flat().toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return { now, semaphores, stale, known, parts };
}
