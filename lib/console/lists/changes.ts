import type { AuditEntry, MaintenanceWindow, MigrationStep, UndoStep } from '../../gatekeeper/index.js';
import type { Columns } from './column.js';
import { differenceText } from './definition-difference.js';
import { someOf } from './texts.js';

/** Changes by people and programs. */
export const AUDIT_COLUMNS = {
  id: { title: 'Id', value: ({ id }) => id },
  when: { title: 'When', value: ({ at }) => at, kind: 'time' },
  action: { title: 'Action', value: ({ action }) => action },
  semaphore: { title: 'Semaphore', value: ({ semaphore }) => semaphore },
  by: { title: 'By', value: ({ by }) => by },
  revision: { title: 'Revision', value: ({ revision }) => revision },
  change: {
    title: 'Change',
    value: (entry) => [changeOf(entry), ...(entry.outcome ? [OUTCOMES[entry.outcome]] : [])].join(', '),
  },
  reason: { title: 'Reason', value: ({ reason = '' }) => reason },
} satisfies Columns<AuditEntry>;

const OUTCOMES = { unknown: 'OUTCOME UNKNOWN', 'not-made': 'NOT MADE' } as const;

function changeOf({ from, to, permit, target, order, task, job, count = 1 }: AuditEntry): string {
  if (job !== undefined) return job;
  if (task !== undefined) return count > 1 ? `${task} and ${count - 1} more` : task;
  if (order?.left !== undefined) return `${order.left} known resources are left`;
  if (order) return [order.resource, order.node].filter((each) => each !== undefined).join(' -> ');
  if (target) return `${permit?.acquirer ?? 'no leader'} -> ${target.acquirer}`;
  if (permit) return `slot ${permit.slot} of ${permit.acquirer}`;
  return to ? differenceText(from, to) : '-';
}

/** The steps of an undo. */
export const UNDO_COLUMNS = {
  name: { title: 'Name', value: ({ name }) => name },
  was: { title: 'Was', value: ({ action }) => action },
  undo: { title: 'Undo', value: ({ outcome, kind }) => (outcome === 'planned' ? kind : undefined) },
  change: { title: 'Change', value: undoneChangeOf },
} satisfies Columns<UndoStep>;

function undoneChangeOf({ outcome, from, to, why, isPaused, willBePaused, revokes }: UndoStep): string {
  if (outcome === 'unchanged') return 'is as before already';
  if (outcome !== 'planned') return `left alone: ${why}`;
  if (!to) return revokes > 0 ? `removes it and ${revokes} held` : 'removes it';
  const pause = isPaused === willBePaused ? [] : [willBePaused ? 'paused again' : 'no longer paused'];
  const fields = differenceText(from, to);
  return [...pause, ...(fields === '-' || fields === '' ? [] : [fields])].join(', ');
}

/** The steps of a migration. */
export const MIGRATION_COLUMNS = {
  name: { title: 'Name', value: ({ name }) => name },
  group: { title: 'Group', value: ({ from, to }) => arrow(from.groupPattern, to.groupPattern) },
  acquirer: { title: 'Acquirer', value: ({ from, to }) => arrow(from.acquirerPattern, to.acquirerPattern) },
  moving: {
    title: 'Moves away from',
    value: ({ moving }) => moving.map(({ acquirer }) => acquirer).join(', ') || undefined,
  },
  candidates: {
    title: 'Could take over',
    value: ({ candidates, candidateCount }) =>
      someOf(
        candidates.map(({ group, acquirer }) => `${group}/${acquirer}`),
        candidateCount,
      ) || 'none',
  },
} satisfies Columns<MigrationStep>;

function arrow(from: string, to: string): string {
  return from === to ? from : `${from} -> ${to}`;
}

/** Maintenance windows. */
export const WINDOW_COLUMNS = {
  name: { title: 'Name', value: ({ window }) => window },
  since: { title: 'Since', value: ({ since }) => since, kind: 'time' },
  by: { title: 'By', value: ({ by }) => by },
  patterns: { title: 'Patterns', value: ({ patterns }) => patterns.join(' ') },
  held: { title: 'Held', value: ({ permits }) => permits },
  state: { title: 'State', value: ({ sentence }) => sentence },
  reason: { title: 'Reason', value: ({ reason = '' }) => reason },
} satisfies Columns<MaintenanceWindow>;
