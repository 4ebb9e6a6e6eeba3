import { type Distribution, distributionOf } from '../../proof/history/distribution.js';
import type { HistoryEntry } from '../../proof/history/history.js';
import type { Contended } from './test-bed.js';

/** How long the others had to do without a permit whose holder was killed, by semaphore. */
export interface SemaphoreTakeovers {
  readonly semaphore: string;
  /** ms */
  readonly duration: number;
  readonly times: readonly number[];
}

/**
 * From each kill -9 of a holder to the next grant of what it held. Only of semaphores with one permit: of others the
 * next grant may be of a slot that was free all the time.
 *
 * @param end kills from then on are those of the run's end
 */
export function takeoversAfterKill(
  entries: readonly HistoryEntry[],
  semaphores: readonly Contended[],
  end: number,
): SemaphoreTakeovers[] {
  return semaphores
    .filter(({ permits }) => permits === 1)
    .map(({ name, duration }) => ({ semaphore: name, duration, times: timesOf(entries, name, end) }));
}

function timesOf(entries: readonly HistoryEntry[], semaphore: string, end: number): number[] {
  const times: number[] = [];
  let holder: string | undefined;
  let killedAt: number | undefined;
  for (const entry of entries) {
    if (entry.at >= end) break;
    if (entry.event === 'killed') {
      if (entry.process === holder) killedAt = entry.at;
    } else if (!('semaphore' in entry) || entry.semaphore !== semaphore) {
      continue;
    } else if (entry.event === 'granted') {
      if (killedAt !== undefined) times.push(entry.at - killedAt);
      killedAt = undefined;
      holder = entry.process;
    } else if (entry.event === 'ended' || (entry.event === 'invoked' && entry.verb === 'release')) {
      if (entry.process === holder) holder = undefined;
    }
  }
  return times;
}

/** Of several faults and semaphores of one duration. */
export function distributionByDuration(takeovers: readonly SemaphoreTakeovers[]): [number, Distribution][] {
  const durations = [...new Set(takeovers.map(({ duration }) => duration))].toSorted((one, other) => one - other);
  return durations.map((duration) => {
    const times = takeovers.filter((each) => each.duration === duration).flatMap((each) => each.times);
    return [duration, distributionOf(times)];
  });
}
