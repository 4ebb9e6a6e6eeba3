const FIRST = 100;
const LONGEST = 5000;

/**
 * Time to pause before the next attempt to connect, in ms.
 *
 * @param failures attempts that failed in a row
 * @param random from 0 to 1; nodes that lost the same cluster at the same moment must not come back at the same moment
 */
export function pauseAfter(failures: number, random: number): number {
  const longest = Math.min(LONGEST, FIRST * 2 ** Math.min(failures, 16));
  return longest * (0.5 + random / 2);
}
