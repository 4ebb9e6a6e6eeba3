/** How pauses grow from attempt to attempt. */
export interface Backoff {
  /** ms; doubled with each further failure. */
  readonly first: number;
  /** ms */
  readonly longest: number;
  /** The share of a pause that chance decides, 0 to 1: contenders that met once must not meet again. */
  readonly jitter: number;
}

/** Nodes that lost the same cluster at the same moment must not come back at the same moment. */
const RECONNECT: Backoff = { first: 100, longest: 5000, jitter: 0.5 };

/**
 * Time to pause before the next attempt, in ms.
 *
 * @param failures attempts that failed in a row, before the last one
 * @param random from 0 to 1
 * @param backoff that of attempts to connect unless given
 */
export function pauseAfter(failures: number, random: number, { first, longest, jitter }: Backoff = RECONNECT): number {
  const most = Math.min(longest, first * 2 ** Math.min(failures, 16));
  return most * (1 - jitter * (1 - random));
}
