import type { SemaphoreOverview } from '../api/answers.js';
import type { Columns } from '../parts/sorting.js';
import { type Condition, conditionOf, heldBy } from './condition.js';

/** The states from the worst to the best. */
const RANKS: readonly Condition[] = ['problem', 'no leader', 'removed', 'paused', 'held', 'led', 'free'];

/** The columns of the list of all work. */
export const COLUMNS: Columns<SemaphoreOverview> = {
  name: { title: 'Semaphore', by: ({ name }) => name },
  state: { title: 'State', by: (semaphore) => RANKS.indexOf(conditionOf(semaphore)) },
  held: { title: 'Held by', by: (semaphore) => heldBy(semaphore).length, first: 'descending' },
  last: { title: 'Last run', by: ({ lastRun }) => lastRun?.at, first: 'descending' },
  next: { title: 'Next run', by: ({ next }) => next },
};
