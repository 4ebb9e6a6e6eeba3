import { exactDuration } from '../../core/decision/texts/exact-duration.js';
import type { Explanation, HolderOverview, SemaphoreOverview } from '../../gatekeeper/index.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import type { Columns } from './column.js';

/** Semaphores. */
export const SEMAPHORE_COLUMNS = {
  name: { title: 'Name', value: ({ name }) => name, firstOrder: 'ascending' },
  state: { title: 'State', value: stateWord },
  held: {
    title: 'Held',
    value: (semaphore) => heldBy(semaphore).length,
    text: ({ definition, holders }) => (definition ? `${heldBy({ holders }).length}/${definition.permits}` : '-'),
    firstOrder: 'descending',
  },
  by: { title: 'By', value: (semaphore) => heldBy(semaphore).map(holderText).join(', ') || undefined },
  // During a pause, the pattern that applies afterwards. The column `state` shows the pause.
  group: { title: 'Group', value: ({ pause, definition }) => pause?.groupPattern ?? definition?.groupPattern },
  acquirer: { title: 'Acquirer', value: ({ definition }) => definition?.acquirerPattern },
  duration: { title: 'Duration', value: ({ definition }) => definition && exactDuration(definition.duration) },
  revision: { title: 'Revision', value: ({ revision }) => revision },
  last: { title: 'Last run', value: ({ lastRun }) => lastRun?.at, kind: 'time', firstOrder: 'descending' },
  outcome: { title: 'Outcome', value: ({ lastRun }) => lastRun?.outcome },
  next: { title: 'Next run', value: ({ next }) => next, kind: 'time', firstOrder: 'ascending' },
  jobs: { title: 'Jobs', value: ({ jobs }) => jobs.map(({ job }) => job).join(', ') || undefined },
  remark: { title: 'Remark', value: remarkOf },
} satisfies Columns<SemaphoreOverview>;

/** State of a semaphore. `free`: a permit is left; `held`: none is left; `off`: the definition allows none. */
function stateWord({ problem, definition, pause, free }: SemaphoreOverview): string {
  if (problem !== undefined) return 'unreadable';
  if (!definition) return 'removed';
  if (pause) return 'paused';
  if (definition.permits === 0) return 'off';
  return free > 0 ? 'free' : 'held';
}

/** The holders whose permits have not ended, by cluster time. The record keeps one that has ended until it is dropped. */
export function heldBy({ holders }: Pick<SemaphoreOverview, 'holders'>): readonly HolderOverview[] {
  return holders.filter(({ remaining }) => remaining > 0);
}

function holderText({ acquirer, remaining, isUnheard }: HolderOverview): string {
  return `${acquirer} (${formatDuration(remaining)}${isUnheard ? ', not heard of' : ''})`;
}

function remarkOf({ problem, pause, source, isOverridden, warnings }: SemaphoreOverview): string {
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(pause ? [`paused by ${pause.by}${pause.reason ? `: ${pause.reason}` : ''}`] : []),
    ...(isOverridden ? [source === 'code' ? 'from the code of other nodes' : 'overrides the code'] : []),
    ...warnings.map(({ sentence }) => sentence),
  ].join('; ');
}

/** The holders of one semaphore. */
export const HOLDER_COLUMNS = {
  slot: { title: 'Slot', value: ({ slot }) => slot },
  holder: { title: 'Holder', value: ({ group, acquirer }) => `${group}/${acquirer}` },
  instance: { title: 'Instance', value: ({ instance }) => instance },
  token: { title: 'Token', value: ({ token }) => token },
  until: { title: 'Until', value: ({ expiresAt }) => expiresAt, kind: 'time' },
  permit: { title: 'Permit id', value: ({ id }) => id },
} satisfies Columns<Explanation['holders'][number]>;
