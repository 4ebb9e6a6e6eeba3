import { SEMAPHORE_COLUMNS } from '../../console/lists/semaphores.js';
import type { SemaphoreOverview } from '../../gatekeeper/index.js';
import { cellsOf, table } from '../text/table.js';

const { last: _last, outcome: _outcome, next: _next, jobs: _jobs, ...NARROW } = SEMAPHORE_COLUMNS;

/** Formats semaphores, one line each. */
export function statusText(semaphores: readonly SemaphoreOverview[], isWide = false): string {
  if (semaphores.length === 0) return 'no semaphores';
  return table(...cellsOf(isWide ? SEMAPHORE_COLUMNS : NARROW, semaphores));
}
