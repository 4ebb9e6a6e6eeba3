import { z } from 'zod';

/**
 * zod types of values that a node reads from the store. Other nodes, other versions or an attacker with a leaked token
 * may have written them. Every type has a limit, so that no value can break the arithmetic or the page that shows it.
 */

/** End of the year 9999 in ms. The sum of two such times is still a valid `Date`. */
export const LATEST = 253_402_300_799_999;
const LONGEST_TEXT = 1000;

/** A count, or a fencing token. */
export const storedCount = z.int().nonnegative();

/** ms since the epoch, or a duration in ms. */
export const storedTime = storedCount.max(LATEST);

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
