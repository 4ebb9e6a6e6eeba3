import { heldBy } from '../../lists/semaphores.js';
import type { SemaphoreOverview } from '../api/answers.js';
import type { Tone } from '../parts/badge.js';
import { hasWords } from '../parts/has-words.js';
import { isLeader } from './kind.js';

/** State of a semaphore in one word: the first one that applies. */
export type Condition = 'problem' | 'removed' | 'paused' | 'held' | 'free' | 'led' | 'no leader';

export function conditionOf(semaphore: SemaphoreOverview): Condition {
  const { name, problem, definition, pause } = semaphore;
  if (problem !== undefined) return 'problem';
  if (!definition) return 'removed';
  if (pause || definition.permits === 0) return 'paused';
  if (isLeader(name)) return isHeld(semaphore) ? 'led' : 'no leader';
  return isHeld(semaphore) ? 'held' : 'free';
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

/** Whether a permit is held. A pause ends no permit, so a paused semaphore may be held, too. */
export function isHeld(semaphore: SemaphoreOverview): boolean {
  return heldBy(semaphore).length > 0;
}

export const FILTERS = {
  held: { label: 'Held', has: isHeld },
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
  if (heldBy(semaphore).some(({ isUnheard }) => isUnheard)) return true;
  if (problem !== undefined || warnings.length > 0 || conditionOf(semaphore) === 'no leader') return true;
  return lastRun !== undefined && lastRun.outcome !== 'ok';
}

/** Whether every word occurs in the semaphore's name, a holder's name or a job's name. */
export function matchesSearch({ name, holders, jobs }: SemaphoreOverview, search: string): boolean {
  const texts = holders.flatMap(({ acquirer, group }) => [acquirer, group]);
  return hasWords([name, ...texts, ...jobs.map(({ job }) => job)], search);
}
