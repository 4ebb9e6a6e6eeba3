/** Tokens per ms: so many grants within one ms get tokens of their own. */
const PER_MS = 1024;

/**
 * The next fencing token: larger than every token granted before, also when the store has lost them, because it
 * starts at cluster time. 1,024 grants per ms would be needed to outrun the clock; ms since the epoch times 1,024
 * stays a safe integer until the year 2248.
 *
 * @param lastToken the highest token that the record knows of
 * @param now cluster time in ms
 */
export function nextToken(lastToken: number, now: number): number {
  return Math.max(lastToken + 1, Math.floor(now) * PER_MS);
}

/** @returns cluster time in ms at which a token was granted; undefined for that of a record that never granted one */
export function lastGrantOf(lastToken: number): number | undefined {
  return lastToken === 0 ? undefined : Math.floor(lastToken / PER_MS);
}
