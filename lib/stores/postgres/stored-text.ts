/**
 * Texts as PostgreSQL stores them. A column of the type text holds neither NUL nor half a surrogate pair. With the
 * collation "C" it compares UTF-8 bytes, so characters beyond U+FFFF come last, while JavaScript compares UTF-16 units, so
 * they come before U+E000. Therefore these characters are escaped, such that the order of the stored texts by their bytes
 * is the order of the texts by their UTF-16 units. All other characters, also those of most texts, are stored as they are.
 *
 * | UTF-16 unit               | stored as                                 | lies between     |
 * | ------------------------- | ----------------------------------------- | ---------------- |
 * | U+0000, U+0001            | U+0001 and then U+0001, U+0002            | nothing, U+0002  |
 * | U+D800 to U+DFFF (halves) | U+E000 and then U+1000 to U+17FF          | U+D7FF, U+E000   |
 * | U+E000                    | U+E000 and then U+E000                    | U+DFFF, U+E001   |
 *
 * Each unit is stored by itself, so the stored form of a prefix is a prefix of the stored form.
 */
// oxlint-disable no-control-regex -- these two characters are what is escaped
const SPECIAL = /[\u0000\u0001\ud800-\udfff\ue000]/;
const EACH_SPECIAL = /[\u0000\u0001\ud800-\udfff\ue000]/g;
const ESCAPED = /[\u0001\ue000]/;
const EACH_ESCAPED = /\u0001[\u0001\u0002]|\ue000[\u1000-\u17ff\ue000]/g;
// oxlint-enable no-control-regex

const FIRST_HALF = 0xd800;
const FIRST_OF_HALVES = 0x1000;

/** Greater than every stored text, because no stored text has characters beyond U+FFFF. */
export const AFTER_ALL = '\u{10ffff}';

/** The form in which a text is stored. */
export function storedForm(text: string): string {
  return SPECIAL.test(text) ? text.replace(EACH_SPECIAL, escapeOf) : text;
}

/** The text that is stored in this form. Characters that another program wrote stay as they are. */
export function textOfStored(stored: string): string {
  return ESCAPED.test(stored) ? stored.replace(EACH_ESCAPED, unitOf) : stored;
}

function escapeOf(unit: string): string {
  if (unit === '\u0000') return '\u0001\u0001';
  if (unit === '\u0001') return '\u0001\u0002';
  if (unit === '\ue000') return '\ue000\ue000';
  return `\ue000${String.fromCharCode(unit.charCodeAt(0) - FIRST_HALF + FIRST_OF_HALVES)}`;
}

function unitOf([mark, code]: string): string {
  if (mark === '\u0001') return code === '\u0001' ? '\u0000' : '\u0001';
  return code === '\ue000' ? '\ue000' : String.fromCharCode(code!.charCodeAt(0) - FIRST_OF_HALVES + FIRST_HALF);
}
