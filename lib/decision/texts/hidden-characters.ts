/**
 * Characters that a line must not hold as they are: a control character ends the line or steers the terminal, a lone
 * surrogate can't be sent as UTF-8, and a mark of direction shows text where it does not stand.
 */
const HIDDEN = /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/** Shows every hidden character as its escape sequence: a line break becomes `\n`, U+009B becomes `\u009b`. */
export function escapeHidden(text: string): string {
  return text.replace(HIDDEN, escapeOf);
}

/** As {@link escapeHidden}, of a text of several lines whose line breaks are its own. */
export function escapeLines(text: string): string {
  return text.replace(HIDDEN, (character) => (character === '\n' ? character : escapeOf(character)));
}

/** A text as JSON quotes it, in full, on one line. `show()` gives the beginning of a long one. */
export function quoted(text: string): string {
  return escapeHidden(JSON.stringify(text));
}

/** Texts that can't be mistaken for another part of their line: without blanks, quotes, brackets and slashes. */
const WORD = /^[\w.:@+-]+$/;

/** A name in a line of a log: as it is where nothing else can be read into it, else quoted. */
export function word(name: string): string {
  return WORD.test(name) ? name : quoted(name);
}

/** JSON text of a value, with every hidden character escaped: other programs read the same, and a terminal obeys nothing. */
export function safeJson(value: unknown, space?: number): string {
  // Outside of texts JSON has no hidden character but the line breaks of its layout.
  return escapeLines(JSON.stringify(value, null, space));
}

/** An error with where it was thrown. Its message takes one line, so that it can't be mistaken for a place in the code. */
export function safeStack(error: Error): string {
  const head = `${error.name}: ${error.message}`;
  const { stack = head } = error;
  const places = (stack.startsWith(head) ? stack.slice(head.length) : stack).split('\n').filter(isPlace);
  return [head, ...places].map(escapeHidden).join('\n');
}

function isPlace(line: string): boolean {
  return /^ +at /.test(line);
}

function escapeOf(character: string): string {
  const escaped = JSON.stringify(character).slice(1, -1);
  return escaped === character ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}` : escaped;
}
