import type { SemaphoreOverview } from '../../gatekeeper/index.js';
import { exactDuration, formatDuration } from '../../insight/format-duration.js';
import { table } from '../text/table.js';

const HEAD = ['name', 'state', 'held', 'by', 'group', 'acquirer', 'duration', 'revision', 'remark'];

/** Formats semaphores, one line each. */
export function statusText(semaphores: readonly SemaphoreOverview[]): string {
  return semaphores.length > 0 ? table(HEAD, semaphores.map(row)) : 'no semaphores';
}

export type StateWord = 'unreadable' | 'paused' | 'off' | 'held' | 'free';

/** State of a semaphore. `free`: a permit is left; `held`: none is left; `off`: the definition allows none. */
export function stateWord({ problem, definition, pause, free }: SemaphoreOverview): StateWord {
  if (problem !== undefined || !definition) return 'unreadable';
  if (pause) return 'paused';
  if (definition.permits === 0) return 'off';
  return free > 0 ? 'free' : 'held';
}

/** Holders whose permits have not expired, by cluster time. */
export function livingHolders({ holders }: Pick<SemaphoreOverview, 'holders'>) {
  return holders.filter(({ remaining }) => remaining > 0);
}

function row(semaphore: SemaphoreOverview): string[] {
  const { name, definition, revision, pause } = semaphore;
  const holders = livingHolders(semaphore);
  const held = holders.map(({ acquirer, remaining }) => `${acquirer} (${formatDuration(remaining)})`).join(', ');
  return [
    name,
    stateWord(semaphore),
    definition ? `${holders.length}/${definition.permits}` : '-',
    held || '-',
    // During a pause, the pattern that applies afterwards. The column `state` shows the pause.
    pause?.groupPattern ?? definition?.groupPattern ?? '-',
    definition?.acquirerPattern ?? '-',
    definition ? exactDuration(definition.duration) : '-',
    String(revision),
    remarks(semaphore).join('; '),
  ];
}

function remarks({ problem, pause, isOverridden, warnings }: SemaphoreOverview): string[] {
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(pause ? [`paused by ${pause.by}${pause.reason ? `: ${pause.reason}` : ''}`] : []),
    ...(isOverridden ? ['overrides the code'] : []),
    ...warnings.map(({ sentence }) => sentence),
  ];
}
