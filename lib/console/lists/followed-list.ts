import { type MaybeStale, staleOf } from '../../core/context/stale.js';
import type { SemaphoreOverview } from '../../gatekeeper/index.js';
import type { SemaphorePartsAnswer } from '../api/answers.js';

/** All semaphores, of which only the parts that changed are loaded again. */
export interface FollowedList extends MaybeStale {
  /** Cluster time of the last answer: ms since the epoch. */
  readonly now: number;
  /** Sorted by name. The same array while no part changed. */
  readonly semaphores: readonly SemaphoreOverview[];
  /** Stands for the loaded parts in the next request. Absent while there are none. */
  readonly known: string | undefined;
  readonly parts: ReadonlyMap<number, readonly SemaphoreOverview[]>;
}

/** The list after an answer. @param former the list before it; absent: this is the first answer */
export function followed(former: FollowedList | undefined, answer: SemaphorePartsAnswer): FollowedList {
  const { now, known = former?.known, changed } = answer;
  const head = { now, known, ...staleOf(answer) };
  if (former && changed.length === 0) return { ...head, semaphores: former.semaphores, parts: former.parts };
  const parts = new Map(former?.parts);
  for (const { part, items } of changed) parts.set(part, items);
  const semaphores = [...parts.values()].flat().toSorted((one, other) => (one.name < other.name ? -1 : 1));
  return { ...head, semaphores, parts };
}
