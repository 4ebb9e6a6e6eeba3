/** Characters that no text of a person or a node may hold, by what they are. */
export const REFUSED: readonly (readonly [string, string])[] = [
  ['NUL', '\u0000'],
  ['a line break', '\n'],
  ['a carriage return', '\r'],
  ['a tab', '\t'],
  ['an escape', '\u001b'],
  ['DEL', '\u007f'],
  ['NEL', '\u0085'],
  ['a CSI of one byte', '\u009b'],
  ['the first half of a character', '\ud83d'],
  ['the second half of a character', '\ude00'],
];

/** Texts that look like something else in a log or on a terminal, by what they are after. */
export const HOSTILE: readonly (readonly [string, string])[] = [
  ['a line of its own', 'a\nstate semaphore=forged permits=9 free=9'],
  ['a line over this one', '\r\u001b[2Kstate semaphore=forged'],
  ['a colour', '\u001b[31mred\u001b[0m'],
  ['a window title', '\u001b]0;title\u0007'],
  ['an escape of one byte', '\u009b2J'],
  ['DEL', 'a\u007f\u007f'],
  ['a line break of Unicode', 'a\u2028state semaphore=forged\u2029b\u0085c'],
  ['text turned around', 'safe\u202etxt.exe\u202c\u2066x\u2069'],
  ['NUL and half a character', 'a\u0000b\ud83d'],
];

/** Characters that no line of a log or terminal may contain. */
export const HIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;
