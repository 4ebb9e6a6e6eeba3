/** Tokens per ms of cluster time. */
const PER_MS = 1024;

/**
 * The next fencing token. It is larger than every token that was granted before, even after a loss of data, because it
 * is never below cluster time. Tokens could only get ahead of the clock with more than 1,024 grants per ms. The number
 * of ms since the epoch times 1,024 is below the highest stored token until the year 2109.
 *
 * @param lastToken the highest token in the record
 * @param now cluster time in ms
 */
export function nextToken(lastToken: number, now: number): number {
  return Math.max(lastToken + 1, Math.floor(now) * PER_MS);
}

/** @returns cluster time in ms at which a token was granted; undefined for 0, which means that none was granted */
export function lastGrantOf(lastToken: number): number | undefined {
  return lastToken === 0 ? undefined : Math.floor(lastToken / PER_MS);
}
