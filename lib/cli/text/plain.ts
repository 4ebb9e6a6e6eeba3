import { stripVTControlCharacters } from 'node:util';

/** Also the marks that turn the direction of text around: what follows them would be shown where it does not stand. */
const UNSHOWN = /[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/gu;

/**
 * Text that others wrote (names, reasons, messages), on one line, and with nothing in it that a terminal obeys: an
 * escape sequence in a reason must not move the cursor, set a title or hide what stands there.
 */
export function plain(text: string): string {
  return stripVTControlCharacters(text).replace(UNSHOWN, ' ');
}
