import { z } from 'zod';

/**
 * zod types of values that a node reads from the store. Other nodes, other versions or, with a leaked token, an attacker
 * may have written them: each is bounded, so that no value can break the arithmetic or the page that shows it.
 */

/** End of the year 9999 in ms: every sum of two such times is still a valid `Date`. */
const LATEST = 253_402_300_799_999;
const LONGEST_TEXT = 1000;

/** A number of things, or a fencing token. */
export const storedCount = z.int().nonnegative();

/** ms since the epoch, or a span in ms. */
export const storedTime = storedCount.max(LATEST);

/** ms by which one clock is behind another. */
export const storedOffset = z.number().min(-LATEST).max(LATEST);

/** A name, reason or message. */
export const storedText = z.string().max(LONGEST_TEXT);

/** A list of values of one type, at most `most`. The first wrong value ends the check: a million could take seconds. */
export function storedList<T>(type: z.ZodType<T>, most = Infinity) {
  // Not z.array: that looks at each of a million values before it counts them.
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
