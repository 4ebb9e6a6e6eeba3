/** Pauses between attempts: each pause is twice as long as the one before. */
export interface Backoff {
  /** ms; the pause after the first failure. */
  readonly first: number;
  /** ms; no pause is longer. */
  readonly longest: number;
  /** Random part of a pause, 0 to 1, so that contenders do not collide again. */
  readonly jitter: number;
}

/** Jittered, so that nodes that lost the cluster at the same moment do not reconnect at the same moment. */
export const RECONNECT: Backoff = { first: 100, longest: 5000, jitter: 0.5 };

/**
 * Time to pause before the next attempt, in ms.
 *
 * @param failures failed attempts in a row before the last one: 0 after the first failure
 * @param random 0 to 1; with 1 the pause has its full length
 */
export function pauseAfter(failures: number, random: number, { first, longest, jitter }: Backoff): number {
  const most = Math.min(longest, first * 2 ** Math.min(failures, 16));
  return most * (1 - jitter * (1 - random));
}
