/**
 * Characters that a line must not contain unescaped. A control character ends the line or controls the terminal. A lone
 * surrogate can't be sent as UTF-8. A direction mark changes the order in which text is shown.
 */
const HIDDEN = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Replaces every hidden character by its escape sequence: a line break becomes `\n`, U+009B becomes `\u009b`. */
export function escapeHidden(text: string): string {
  return text.replace(HIDDEN, escapeOf);
}

/** Like {@link escapeHidden}, but keeps line breaks. */
export function escapeLines(text: string): string {
  return text.replace(HIDDEN, (character) => (character === '\n' ? character : escapeOf(character)));
}

/** A text as a JSON string, in full, on one line. In contrast, `show()` shortens long texts. */
export function quoted(text: string): string {
  return escapeHidden(JSON.stringify(text));
}

/** Texts without blanks, quotes, brackets and slashes: a reader can't mistake them for another part of the line. */
const WORD = /^[\w.:@+-]+$/;

/** A name in a log line: unquoted if it can't be mistaken for another part of the line, otherwise quoted. */
export function word(name: string): string {
  return WORD.test(name) ? name : quoted(name);
}

/** JSON text of a value with every hidden character escaped. Programs read the same value; a terminal stays safe. */
export function safeJson(value: unknown, space?: number): string {
  // Outside of strings, the only hidden characters of JSON are the line breaks of its layout.
  return escapeLines(JSON.stringify(value, null, space));
}

function escapeOf(character: string): string {
  const escaped = JSON.stringify(character).slice(1, -1);
  return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped;
}

/** Number of texts that {@link listed} shows. */
const MOST_LISTED = 5;

/** Some of many names, for a sentence: "a, b and 3 more". */
export function listed(names: readonly string[], shown: (name: string) => string = word): string {
  const first = names.slice(0, MOST_LISTED).map(shown).join(', ');
  return names.length > MOST_LISTED ? `${first} and ${names.length - MOST_LISTED} more` : first;
}
