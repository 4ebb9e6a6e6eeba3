import { Deadline } from '../async/deadline.js';
import type { Timers } from '../async/timers.js';
import type { ClusterClock } from './cluster-clock.js';

interface Sampling {
  readonly clusterClock: Pick<ClusterClock, 'sample'>;
  readonly timers: Timers;
}

/**
 * Samples the clocks for a decision that can also do without: a member with an unreadable clock must neither fail nor delay
 * the call. The clock reports by itself that it gets no answers. Never rejects.
 *
 * @param callTimeout ms; a quarter of it is left for the sample
 * @returns whether the clocks were sampled
 */
export async function trySample({ clusterClock, timers }: Sampling, callTimeout: number): Promise<boolean> {
  const patience = new Deadline(timers, callTimeout / 4);
  return patience.race(clusterClock.sample()).then(
    () => true,
    () => false,
  );
}
