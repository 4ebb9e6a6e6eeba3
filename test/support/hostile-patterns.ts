import fc from 'fast-check';

/** Pieces of which patterns are made that cost much, or that are easily misread. */
const PIECES = [
  'x',
  'é',
  '😀',
  '.',
  '\\pL',
  '\\P{Greek}',
  '\\w',
  '\\W',
  '\\b',
  '^',
  '$',
  '\\x41',
  '\\x{10ffff}',
  '\\101',
  '\\Q[x{9}\\E',
  '[a-z]',
  '[^a-z]',
  '[]x]',
  '[^]]',
  '[\\]\\-]',
  '[A-[:]',
  '[[:alpha:]_]',
  '[\\pL-]',
  '[a-\\x{10ffff}]',
  '[+--]',
];
const REPETITIONS = [
  '*',
  '+',
  '?',
  '*?',
  '{0,1000}',
  '{1000}',
  '{7}',
  '{0,30}',
  '{2,}',
  '{1,3}?',
  '{09}',
  '{0}',
  '{,5}',
];
const SYNTAX = [
  '(',
  ')',
  '[',
  ']',
  '|',
  '{',
  '}',
  '\\',
  '(?i)',
  '(?i:',
  '(?P<n>',
  '(?:',
  '-',
  ':]',
  '[:',
  '^',
  '\\Q',
  '\\E',
];

const piece = fc.constantFrom(...PIECES);
const repetition = fc.constantFrom('', '', ...REPETITIONS);

/** Well-formed, with groups in groups. */
const { expression } = fc.letrec<{ expression: string; part: string }>((tie) => ({
  part: fc.oneof(
    { maxDepth: 5 },
    fc.tuple(piece, repetition).map(([one, count]) => one + count),
    fc
      .tuple(fc.constantFrom('(', '(?:', '(?i:'), tie('expression'), repetition)
      .map(([open, inner, count]) => `${open}${inner})${count}`),
  ),
  expression: fc
    .array(fc.array(tie('part'), { maxLength: 4 }), { minLength: 1, maxLength: 3 })
    .map((alternatives) => alternatives.map((parts) => parts.join('')).join('|')),
}));

/** Anything at all, of what patterns are made of. */
const rubble = fc
  .array(fc.oneof(fc.constantFrom(...SYNTAX), piece, fc.constantFrom(...REPETITIONS)), { maxLength: 40 })
  .map((parts) => parts.join(''));

/** One thing many times, in one or two frames. */
const floods = fc
  .tuple(
    expression,
    fc.constantFrom('', '|', '(?i)'),
    fc.constantFrom(['', ''], ['(?i)', ''], ['[', ']'], ['(?:', ')*']),
  )
  .chain(([one, between, [open, end]]) =>
    fc
      .integer({ min: 1, max: Math.max(1, Math.floor(4000 / (one.length + between.length + 1))) })
      .map((count) => `${open}${Array<string>(count).fill(one).join(between)}${end}`),
  );

/** Patterns as an attacker or a fuzzer makes them; few are sensible, many are none at all. */
export const patterns: fc.Arbitrary<string> = fc.oneof(
  { arbitrary: expression, weight: 3 },
  { arbitrary: rubble, weight: 3 },
  { arbitrary: floods, weight: 2 },
  { arbitrary: fc.string({ unit: 'binary', maxLength: 60 }), weight: 1 },
);
