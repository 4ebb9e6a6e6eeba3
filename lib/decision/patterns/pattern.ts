import { RE2JS } from 're2js';
import { show } from '../texts/show.js';
import { isLongerThan } from '../texts/one-line.js';
import {
  LONGEST_NAME,
  LONGEST_PATTERN,
  MOST_INSTRUCTIONS,
  type PatternCost,
  costFault,
  costOf,
  sizeFault,
} from './pattern-cost.js';

/** Matches no name at all: the group pattern of a paused semaphore. */
export const MATCHES_NONE = '[^\\s\\S]';

/** A compiled pattern: whether it matches the whole name. It matches no name that is longer than names may be. */
export interface NameMatcher {
  (name: string): boolean;
  /** The most that matching a name costs. */
  readonly cost: Pick<PatternCost, 'instructions' | 'steps'>;
}

const EVERY_NAME: NameMatcher = Object.assign(() => true, { cost: { instructions: 1, steps: 1 } });

/**
 * Compiles an operator's pattern. RE2 takes time that is linear in the text, but also in the size of the pattern's
 * program: so that is bounded before and after it is compiled.
 *
 * @returns the matcher, or a sentence (without the field's name) that says what is wrong
 */
export function compilePattern(pattern: string): NameMatcher | string {
  if (pattern === '.*') return EVERY_NAME;
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  const compiled = costFault(pattern) ?? compiledOrFault(pattern);
  // A longer one is refused at once; keeping it would take up memory.
  if (!isLongerThan(pattern, LONGEST_PATTERN)) keep(pattern, compiled);
  return compiled;
}

/** The fault of a pattern, as a sentence without the field's name. */
export function patternFault(pattern: string): string | undefined {
  const compiled = compilePattern(pattern);
  return typeof compiled === 'string' ? compiled : undefined;
}

/** RE2's instructions that are tried at most to match a name. */
export function stepsOf({ cost: { instructions, steps } }: NameMatcher, name: string): number {
  return Math.min(steps, instructions * (name.length + 1));
}

/** The pattern that matches this name and no other: unquoted, "eu.west" would let "eu-west" through. */
export function exactly(name: string): string {
  return RE2JS.quote(name);
}

function compiledOrFault(pattern: string): NameMatcher | string {
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.DOTALL);
    const instructions = compiled.programSize();
    if (instructions > MOST_INSTRUCTIONS) return sizeFault(pattern, instructions);
    const { steps } = costOf(pattern);
    // Not `compiled.matches`: that builds an automaton, which costs several times as much and grows to megabytes.
    const matcher = (name: string) => !isLongerThan(name, LONGEST_NAME) && compiled.matcher(name).matches();
    return Object.assign(matcher, { cost: { instructions, steps } });
  } catch (error) {
    return `${show(pattern)} is not an RE2 pattern: ${withoutFlags((error as Error).message)}`;
  }
}

/** Compiled patterns: thousands of definitions share a few, and compiling takes longer than all the rest. */
const kept = new Map<string, NameMatcher | string>();
/** Characters and instructions of all that are kept, which take about 50 MB; 10,000 patterns of everyday size fit. */
const MOST_KEPT = 1_000_000;
/** An empty pattern takes up as much as so many characters. */
const LEAST_WEIGHT = 50;
let weight = 0;

/** The oldest make room, so that ever new patterns don't fill the memory. */
function keep(pattern: string, compiled: NameMatcher | string): void {
  kept.set(pattern, compiled);
  weight += weightOf(pattern, compiled);
  for (const [oldest, other] of kept) {
    if (weight <= MOST_KEPT) return;
    kept.delete(oldest);
    weight -= weightOf(oldest, other);
  }
}

function weightOf(pattern: string, compiled: NameMatcher | string): number {
  const size = typeof compiled === 'string' ? 0 : compiled.cost.instructions;
  return LEAST_WEIGHT + pattern.length + size;
}

/** Leaves out the part that the operator did not write: "error parsing regexp: missing closing ): `(?s)app(`" -> "missing closing ): `app(`". */
function withoutFlags(message: string): string {
  return message.replace('error parsing regexp: ', '').replace('`(?s)', '`');
}
