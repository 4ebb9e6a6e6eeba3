import fc from 'fast-check';
import { RE2JS } from 're2js';
import {
  LONGEST_PATTERN,
  MOST_INSTRUCTIONS,
  MOST_STEPS,
  type NameMatcher,
  compilePattern,
  costOf,
  definitionSchema,
  matchersOf,
  parseDefinition,
  patternFaults,
  stepsOf,
} from '../../../lib/core/decision/index.js';
import { patterns } from '../../support/hostile-patterns.js';
import { aDefinition } from './worlds.js';

/** 455 times, as an attacker sent it: it compiled for 2.4 s to 910,002 instructions. */
const ATTACK = 'x{0,1000}'.repeat(455);
const isRefused = (pattern: string) => typeof compilePattern(pattern) === 'string';
const hosts = (count: number) => Array.from({ length: count }, (_, index) => `host-${index}`).join('|');

describe('the cost of a pattern', () => {
  it.each([
    ['counted repetitions without end', ATTACK, 'instructions, more than 5,000: use fewer or smaller counted'],
    ['counted repetitions within others', '((a{0,30}){0,30}){0,30}', 'instructions, more than 5,000'],
    [
      'a repetition of much behind another',
      `.{0,99}(?:${'a?'.repeat(900)})`,
      'steps to match a name, more than 250,000',
    ],
    ['groups within groups', `${'('.repeat(500)}x${')'.repeat(500)}`, 'has groups within groups 500 deep'],
    ['Unicode classes in a class', `[${'\\pL'.repeat(600)}]`, 'ranges of characters'],
    ['Unicode classes as alternatives', '\\pL|'.repeat(600), 'ranges of characters'],
    ['large ranges where case is ignored', `(?i)[B-\\x{10ffff}]`.repeat(9), 'ranges of characters'],
    ['many alternatives that share a large class', `${'\\pL|'.repeat(18)}${'x|'.repeat(1900)}`, 'ranges of characters'],
    ['too many characters', 'x'.repeat(LONGEST_PATTERN + 1), 'is longer than 4096 characters'],
  ])('is bounded: %s', (_, pattern, words) => {
    expect(compilePattern(pattern)).toContain(words);
  });

  it('is found before anything is compiled', () => {
    const began = process.cpuUsage();
    for (let index = 0; index < 100; index++) expect(isRefused(`${ATTACK.slice(index)}y`)).toBe(true);
    const { user, system } = process.cpuUsage(began);
    // Compiled, each would take two seconds.
    expect((user + system) / 1000 / 100).toBeLessThan(20);
  });

  it.each([
    'app[0-9]{1,3}',
    '(app|web)-[a-z0-9]{1,63}',
    '(?i)[a-z]+-(eu|us)-(west|east)-\\d{1,4}',
    '[\\pL\\pN_-]{1,200}',
    '.*-worker-.*',
    'x{0,1000}',
    '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}',
    '(?:[a-z0-9-]{1,63}\\.){1,5}example\\.org',
    `(?:${hosts(300)})`,
    `(eu|us)-(?:${hosts(300)})`,
    `.*-(?:${hosts(100)})`,
    hosts(450),
    Array.from({ length: 400 }, (_, index) => `n${(index * 7919).toString(36)}`).join('|'),
    'x'.repeat(LONGEST_PATTERN),
    'x|'.repeat(LONGEST_PATTERN / 2 - 1),
  ])('lets everyday patterns through: %p', (pattern) => {
    expect(typeof compilePattern(pattern)).toBe('function');
  });

  it('is never less than what RE2 makes of it', () => {
    fc.assert(
      fc.property(patterns, (pattern) => {
        const { instructions } = costOf(pattern);
        fc.pre(instructions <= MOST_INSTRUCTIONS);
        expect(instructions).toBeGreaterThanOrEqual(sizeOf(pattern));
      }),
      { numRuns: 500 },
    );
  });

  it('is at most its limits in all that is compiled, and less for a short name', () => {
    fc.assert(
      fc.property(patterns, (pattern) => {
        const matcher = compilePattern(pattern);
        if (typeof matcher === 'string') return;
        expect(matcher.cost.instructions).toBeLessThanOrEqual(MOST_INSTRUCTIONS);
        expect(stepsOf(matcher, 'x'.repeat(200))).toBeLessThanOrEqual(MOST_STEPS);
        expect(stepsOf(matcher, 'x')).toBeLessThanOrEqual(2 * matcher.cost.instructions);
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ['[A-[:]x{1000}:]', 1000],
    ['[]x{9}]x{1000}', 1000],
    ['[^]x{9}]x{1000}', 1000],
    ['\\x{41}{1000}', 1000],
    ['(?P<n>x){1000}', 3000],
    ['x(?i){10}(?i){10}', 100],
    ['\\Qx{9}\\E{1000}', 1003],
    ['[\\]x]{1000}', 1000],
    ['\\101{1000}', 1000],
  ])('is read as RE2 reads it: %p', (pattern, size) => {
    expect(sizeOf(pattern)).toBeGreaterThanOrEqual(size);
    expect(costOf(pattern).instructions).toBeGreaterThanOrEqual(sizeOf(pattern));
    expect(costOf(pattern).instructions).toBeLessThan(1.1 * size + 20);
  });

  it('matches no name that is longer than names may be', () => {
    expect((compilePattern('x*') as NameMatcher)('x'.repeat(200))).toBe(true);
    expect((compilePattern('x*') as NameMatcher)('x'.repeat(201))).toBe(false);
  });
});

describe('a pattern that costs too much', () => {
  it('is refused in a definition, by its field, its beginning, the limit and what to do', () => {
    const input = { name: 'job', duration: '1m', groupPattern: ATTACK, acquirerPattern: ATTACK };
    expect(() => parseDefinition(input, 100)).toThrow(
      /groupPattern: "x\{0,1000\}x.*… \(4097 characters\) compiles to 910,002 instructions, more than 5,000: use fewer .*; acquirerPattern: "x/,
    );
    expect(definitionSchema.safeParse(input).success).toBe(false);
  });

  it('matches no name where it is stored, and says why', () => {
    const stored = aDefinition({ groupPattern: ATTACK });
    expect(matchersOf(stored).group('x')).toBe(false);
    expect(patternFaults(stored)).toEqual([expect.stringContaining('groupPattern: "x{0,1000}x')]);
    expect(patternFaults(aDefinition({}))).toEqual([]);
  });
});

/** 0 for what RE2 refuses. */
function sizeOf(pattern: string): number {
  try {
    return RE2JS.compile(pattern, RE2JS.DOTALL).programSize();
  } catch (error) {
    if (error instanceof Error && /error parsing regexp|regexp/.test(error.message)) return 0;
    throw error;
  }
}
