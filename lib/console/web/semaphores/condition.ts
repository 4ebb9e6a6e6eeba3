import type { SemaphoreOverview } from '../api/answers.js';
import type { Tone } from '../parts/badge.js';
import { hasWords } from '../parts/has-words.js';
import { isLeader } from './kind.js';

/** State of a semaphore in one word: the first one that applies. */
export type Condition = 'problem' | 'removed' | 'paused' | 'held' | 'free' | 'led' | 'no leader';

export function conditionOf({ name, problem, definition, pause, holders }: SemaphoreOverview): Condition {
  if (problem !== undefined) return 'problem';
  if (!definition) return 'removed';
  if (pause || definition.permits === 0) return 'paused';
  if (isLeader(name)) return holders.some(({ remaining }) => remaining > 0) ? 'led' : 'no leader';
  return holders.length > 0 ? 'held' : 'free';
}

export const CONDITION_TONES: Record<Condition, Tone> = {
  problem: 'bad',
  removed: 'neutral',
  paused: 'warning',
  held: 'accent',
  free: 'good',
  led: 'accent',
  'no leader': 'bad',
};

const HELD: ReadonlySet<Condition> = new Set(['held', 'led']);

export const FILTERS = {
  held: { label: 'Held', has: (semaphore) => HELD.has(conditionOf(semaphore)) },
  free: { label: 'Free', has: (semaphore) => conditionOf(semaphore) === 'free' },
  paused: { label: 'Paused', has: (semaphore) => conditionOf(semaphore) === 'paused' },
  overridden: { label: 'Overridden', has: ({ isOverridden }) => isOverridden === true },
  attention: { label: 'Needs attention', has: (semaphore) => needsAttention(semaphore) },
} satisfies Record<string, { label: string; has: (semaphore: SemaphoreOverview) => boolean }>;

export type FilterName = keyof typeof FILTERS;

export function isFilter(name: string | null): name is FilterName {
  return name !== null && Object.hasOwn(FILTERS, name);
}

function needsAttention(semaphore: SemaphoreOverview): boolean {
  const { problem, warnings, lastRun } = semaphore;
  if (problem !== undefined || warnings.length > 0 || conditionOf(semaphore) === 'no leader') return true;
  return lastRun !== undefined && lastRun.outcome !== 'ok';
}

/** Whether every word occurs in the semaphore's name, a holder's name or a job's name. */
export function matchesSearch({ name, holders, jobs }: SemaphoreOverview, search: string): boolean {
  const texts = holders.flatMap(({ acquirer, group }) => [acquirer, group]);
  return hasWords([name, ...texts, ...jobs.map(({ job }) => job)], search);
}
