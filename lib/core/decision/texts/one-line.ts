import { z } from 'zod';
import { show } from './show.js';

/** C0, DEL and C1 characters, such as line breaks, tabs and the start of escape sequences. */
const CONTROL_CHARACTERS = /\p{Cc}/u;
/** Half of a surrogate pair. */
const HALF_CHARACTERS = /\p{Cs}/u;

/**
 * Checks a text that a person or a node sets; all such texts pass this check. PostgreSQL can store neither NUL nor half
 * a surrogate pair, and every list and log shows a text on one line.
 *
 * @returns a sentence, without the field's name, that says what is wrong; undefined if nothing is
 */
export function lineFault(text: string): string | undefined {
  if (HALF_CHARACTERS.test(text)) return `${show(text)} has half a character: it is no text that can be sent`;
  return CONTROL_CHARACTERS.test(text) ? `${show(text)} has control characters: give one line without them` : undefined;
}

/**
 * Whether a text has more than `most` characters. Counts code points, as JSON schemas do; an emoji has a `length` of
 * two. The time is limited even for a text that is far too long.
 */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length <= most) return false;
  return text.length > 2 * most || Array.from(text).length > most;
}

/** Whether a text has neither control characters nor half a surrogate pair. */
export function isOneLine(text: string): boolean {
  return lineFault(text) === undefined;
}

/** zod type of one line of text of at most `longest` characters. */
export function lineSchema(longest: number) {
  return z
    .string({ error: ({ input }) => `${show(input)} is not text` })
    .max(longest, { error: `is longer than ${longest} characters` })
    .refine(isOneLine, { error: ({ input }) => lineFault(input as string) });
}
