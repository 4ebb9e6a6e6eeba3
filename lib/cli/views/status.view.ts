import { pick } from '../../console/lists/column.js';
import { SEMAPHORE_COLUMNS } from '../../console/lists/semaphores.js';
import type { SemaphoreOverview } from '../../gatekeeper/index.js';
import { cellsOf, table } from '../text/table.js';

const NARROW = pick(SEMAPHORE_COLUMNS, [
  'name',
  'state',
  'held',
  'by',
  'group',
  'acquirer',
  'duration',
  'revision',
  'remark',
]);

/** Formats semaphores, one line each. */
export function statusText(semaphores: readonly SemaphoreOverview[], isWide = false): string {
  if (semaphores.length === 0) return 'no semaphores';
  return table(...cellsOf(isWide ? SEMAPHORE_COLUMNS : NARROW, semaphores));
}
