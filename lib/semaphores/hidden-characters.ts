/**
 * Characters that a line of text must not hold as they are: a control character ends the line or steers the terminal, a
 * lone surrogate can't be sent as UTF-8, and a mark of direction shows text where it does not stand.
 */
const HIDDEN = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Shows every hidden character as its escape sequence: a line break becomes `\n`, U+009B becomes `\u009b`. */
export function escapeHidden(text: string): string {
  return text.replace(HIDDEN, escapeOf);
}

function escapeOf(character: string): string {
  const escaped = JSON.stringify(character).slice(1, -1);
  return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped;
}

/** JSON text of a value, in which every hidden character is escaped: safe in a line of a log and on a terminal. */
export function safeJson(value: unknown, space?: number): string {
  const text = JSON.stringify(value, null, space) ?? String(value);
  return text.replace(HIDDEN, (character) => (character === '\n' ? character : escapeOf(character)));
}
