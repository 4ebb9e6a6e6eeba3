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
