/** Texts that a store must keep and compare as they are, by name. */
export const AWKWARD_TEXTS: readonly (readonly [name: string, text: string])[] = [
  ['quotes', `"double" 'single' \\back\\slash`],
  ['spaces and line ends', '  { "x" :\t1 }\r\n '],
  ['unicode', 'Zürich 東京 👩‍🚀 e\u0301 \u00e9 \u0000'],
  ['nothing', ''],
];
