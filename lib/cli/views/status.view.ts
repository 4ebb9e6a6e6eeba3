import type { HolderOverview, SemaphoreOverview } from '../../gatekeeper/index.js';
import { exactDuration } from '../../core/decision/texts/exact-duration.js';
import { formatDuration } from '../../operate/insight/format-duration.js';
import { table } from '../text/table.js';
import { timeText } from '../text/times.js';

const HEAD = ['name', 'state', 'held', 'by', 'group', 'acquirer', 'duration', 'revision'];
const WIDE = ['last run', 'outcome', 'next run', 'jobs'];

/** Formats semaphores, one line each. */
export function statusText(semaphores: readonly SemaphoreOverview[], isWide = false): string {
  if (semaphores.length === 0) return 'no semaphores';
  const head = [...HEAD, ...(isWide ? WIDE : []), 'remark'];
  return table(
    head,
    semaphores.map((each) => [...row(each), ...(isWide ? runs(each) : []), remarks(each).join('; ')]),
  );
}

export type StateWord = 'unreadable' | 'removed' | 'paused' | 'off' | 'held' | 'free';

/** State of a semaphore. `free`: a permit is left; `held`: none is left; `off`: the definition allows none. */
export function stateWord({ problem, definition, pause, free }: SemaphoreOverview): StateWord {
  if (problem !== undefined) return 'unreadable';
  if (!definition) return 'removed';
  if (pause) return 'paused';
  if (definition.permits === 0) return 'off';
  return free > 0 ? 'free' : 'held';
}

/** Holders whose permits have not expired, by cluster time. */
export function livingHolders({ holders }: Pick<SemaphoreOverview, 'holders'>) {
  return holders.filter(({ remaining }) => remaining > 0);
}

function holderText({ acquirer, remaining, isUnheard }: HolderOverview): string {
  return `${acquirer} (${formatDuration(remaining)}${isUnheard ? ', not heard of' : ''})`;
}

function row(semaphore: SemaphoreOverview): string[] {
  const { name, definition, revision, pause } = semaphore;
  const holders = livingHolders(semaphore);
  const held = holders.map(holderText).join(', ');
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
  ];
}

function runs({ lastRun, next, jobs }: SemaphoreOverview): string[] {
  return [
    lastRun ? timeText(lastRun.at) : '-',
    lastRun?.outcome ?? '-',
    next === undefined ? '-' : timeText(next),
    jobs.map(({ job }) => job).join(', ') || '-',
  ];
}

function remarks({ problem, pause, source, isOverridden, warnings }: SemaphoreOverview): string[] {
  return [
    ...(problem === undefined ? [] : [problem]),
    ...(pause ? [`paused by ${pause.by}${pause.reason ? `: ${pause.reason}` : ''}`] : []),
    ...(isOverridden ? [source === 'code' ? 'from the code of other nodes' : 'overrides the code'] : []),
    ...warnings.map(({ sentence }) => sentence),
  ];
}
