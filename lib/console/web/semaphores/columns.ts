import { type Columns, pick } from '../../lists/column.js';
import { SEMAPHORE_COLUMNS } from '../../lists/semaphores.js';
import type { SemaphoreOverview } from '../api/answers.js';
import { type Condition, conditionOf } from './condition.js';

/** The states from the worst to the best. */
const RANKS: readonly Condition[] = ['problem', 'no leader', 'removed', 'paused', 'held', 'led', 'free'];

/** The columns of the list of all work. */
export const COLUMNS: Columns<SemaphoreOverview> = {
  name: SEMAPHORE_COLUMNS.name,
  state: {
    ...SEMAPHORE_COLUMNS.state,
    value: (semaphore) => RANKS.indexOf(conditionOf(semaphore)),
    firstOrder: 'ascending',
  },
  held: { ...SEMAPHORE_COLUMNS.held, title: 'Held by' },
  ...pick(SEMAPHORE_COLUMNS, ['last', 'next']),
};
