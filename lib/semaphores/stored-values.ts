import { z } from 'zod';

/**
 * zod types of values that a node reads from the store. Other nodes, older and newer versions and, where a token leaked,
 * an attacker wrote them: each is bounded, so that no value can break the arithmetic or the page that shows it.
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
