import { z } from 'zod';

/**
 * zod types of values that a node reads from the store. Other nodes, other versions or an attacker with a leaked token
 * may have written them. Every type has a limit, so that no value can break the arithmetic or the page that shows it.
 */

/** End of the year 9999 in ms. The sum of two such times is still a valid `Date`. */
export const LATEST = 253_402_300_799_999;
const LONGEST_TEXT = 1000;

/**
 * Highest count and highest token. A count grows by one with a write, and a token with the clock, which comes here in the
 * year 2109: a higher one is damaged or forged. Beyond the safe integers a count would not grow any more, so half of them
 * stay free.
 */
export const HIGHEST_COUNT = 2 ** 52;

/** A count, or a fencing token. */
export const storedCount = z.int().nonnegative().max(HIGHEST_COUNT);

/** ms since the epoch. */
export const storedTime = storedCount.max(LATEST);

/** A duration in ms. The end of a lease that begins now can still be stored. */
export const storedDuration = storedCount.max(Math.floor(LATEST / 2));

/** Counts of a record that grow with its writes. */
interface Counts {
  readonly seq: number;
  readonly lastToken?: number;
  readonly revision?: number;
}

/** Whether all readers of a record could read the next one, too. */
export function hasRoom({ seq, lastToken = 0, revision = 0 }: Counts): boolean {
  return Math.max(seq, lastToken, revision) < HIGHEST_COUNT;
}

/** Whether readers take the counts of a record that is about to be written. */
export function isCountable({ seq, lastToken = 0, revision = 0 }: Counts): boolean {
  return Math.max(seq, lastToken, revision) <= HIGHEST_COUNT;
}

/** Difference of two clocks in ms. */
export const storedOffset = z.number().min(-LATEST).max(LATEST);

/** A name, reason or message. */
export const storedText = z.string().max(LONGEST_TEXT);

/**
 * A list of at most `most` values of one type. The check ends at the first wrong value: a million could take seconds.
 */
export function storedList<T>(type: z.ZodType<T>, most = Infinity) {
  // Not z.array: it checks all values before it counts them.
  return z.unknown().transform((list, context): T[] => {
    if (!Array.isArray(list)) {
      context.addIssue({ code: 'invalid_type', expected: 'array', input: list });
      return z.NEVER;
    }
    if (list.length > most) {
      context.addIssue({ code: 'too_big', origin: 'array', maximum: most, inclusive: true, input: list });
      return z.NEVER;
    }
    const read: T[] = [];
    for (const [index, value] of list.entries()) {
      const { data, error } = type.safeParse(value);
      if (error) {
        for (const issue of error.issues) context.addIssue({ ...issue, path: [index, ...issue.path] });
        return z.NEVER;
      }
      read.push(data);
    }
    return read;
  });
}
