/** Growth of pauses between attempts. */
export interface Backoff {
  /** ms; doubled with each further failure. */
  readonly first: number;
  /** ms */
  readonly longest: number;
  /** Random part of a pause, 0 to 1, so that contenders do not collide again. */
  readonly jitter: number;
}

/** Jittered, so that nodes that lost the cluster at the same moment do not reconnect at the same moment. */
export const RECONNECT: Backoff = { first: 100, longest: 5000, jitter: 0.5 };

/**
 * Time to pause before the next attempt, in ms.
 *
 * @param failures attempts that failed in a row, before the last one
 * @param random from 0 to 1
 */
export function pauseAfter(failures: number, random: number, { first, longest, jitter }: Backoff): number {
  const most = Math.min(longest, first * 2 ** Math.min(failures, 16));
  return most * (1 - jitter * (1 - random));
}
