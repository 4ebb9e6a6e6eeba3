import type { LossReason } from '../../core/context/events.js';
import type { StartEntry } from './entry-schemas.js';
import type { RunEntry } from './history-answers.js';

/**
 * A run without an end, of a node that no longer lives. A run that had lost its permit before ended by that, and not by a
 * crash. Pure.
 *
 * @param known cluster time in ms at which its permit ended, if the record or another node tells
 */
export function withoutEnd({ until: first, ...start }: StartEntry, known?: number): RunEntry {
  const { loss } = start;
  const until = loss && !STAYS.has(loss.reason) ? undefined : (known ?? first);
  return { ...start, kind: 'run', outcome: loss ? 'lost' : 'crashed', ...(until !== undefined && { until }) };
}

/** The run was cut, and may work on: its permit stays in the store until it expires. */
const STAYS: ReadonlySet<LossReason> = new Set(['closing', 'max-run-time']);

/**
 * Compares runs for `toSorted`: the newest first. Of runs that begin in one ms, the one with the higher number is the newer.
 */
export function newerFirst(one: Begun, other: Begun): number {
  return other.at - one.at || (other.run ?? 0) - (one.run ?? 0);
}

/** Identifies a job among those of all semaphores. */
export function jobKey({ semaphore, job }: { readonly semaphore: string; readonly job: string }): string {
  return `${semaphore}\n${job}`;
}

interface Begun {
  readonly at: number;
  readonly run?: number | undefined;
}
