/** Texts that a store must keep and compare as they are, by name. */
export const AWKWARD_TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['quotes', `"double" 'single' \\back\\slash`],
  ['spaces and line ends', '  { "x" :\t1 }\r\n '],
  ['unicode', 'Zürich 東京 👩‍🚀 e\u0301 \u00e9 \u0000'],
  ['nothing', ''],
];

/**
 * Keys that a store must keep apart, although a collation of a database takes them for equal, or a column is too short for
 * them. Names of semaphores and of tasks differ like this.
 *
 * @param begin of each key
 */
export function keysThatLookAlike(begin: string): string[] {
  const ends = ['a', 'A', 'a ', '\u00e4', 'a\u0308', '\uff41', ...['a', 'b'].map((end) => 'x'.repeat(300) + end)];
  return ends.map((end) => begin + end);
}
