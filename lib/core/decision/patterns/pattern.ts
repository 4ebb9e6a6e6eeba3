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

/** A pattern that matches no name: the group pattern of a paused semaphore. */
export const MATCHES_NONE = '[^\\s\\S]';

/** A compiled pattern. Returns whether it matches the whole name; false for a name that is too long. */
export interface NameMatcher {
  (name: string): boolean;
  /** Upper bounds of the cost of matching one name. */
  readonly cost: Pick<PatternCost, 'instructions' | 'steps'>;
}

const EVERY_NAME: NameMatcher = Object.assign(() => true, { cost: { instructions: 1, steps: 1 } });

/**
 * Compiles an operator's pattern. RE2's time is linear in the length of the name and in the size of the compiled
 * program. So the program's size is checked before and after the compilation.
 *
 * @returns the matcher, or a sentence (without the field's name) that says what is wrong
 */
export function compilePattern(pattern: string): NameMatcher | string {
  if (pattern === '.*') return EVERY_NAME;
  const known = kept.get(pattern);
  if (known !== undefined) return known;
  const compiled = costFault(pattern) ?? compiledOrFault(pattern);
  // A longer pattern is refused at once, so keeping it would only waste memory.
  if (!isLongerThan(pattern, LONGEST_PATTERN)) keep(pattern, compiled);
  return compiled;
}

/** The fault of a pattern, as a sentence without the field's name. */
export function patternFault(pattern: string): string | undefined {
  const compiled = compilePattern(pattern);
  return typeof compiled === 'string' ? compiled : undefined;
}

/** The most RE2 instructions that are tried to match this name. */
export function stepsOf({ cost: { instructions, steps } }: NameMatcher, name: string): number {
  return Math.min(steps, instructions * (name.length + 1));
}

/** The pattern that matches only this name. Without quoting, "eu.west" would also match "eu-west". */
export function exactly(name: string): string {
  return RE2JS.quote(name);
}

function compiledOrFault(pattern: string): NameMatcher | string {
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.DOTALL);
    const instructions = compiled.programSize();
    if (instructions > MOST_INSTRUCTIONS) return sizeFault(pattern, instructions);
    const { steps } = costOf(pattern);
    // Not `compiled.matches`: it builds an automaton that costs several times as much and grows to megabytes.
    const matcher = (name: string) => !isLongerThan(name, LONGEST_NAME) && compiled.matcher(name).matches();
    return Object.assign(matcher, { cost: { instructions, steps } });
  } catch (error) {
    return `${show(pattern)} is not an RE2 pattern: ${withoutFlags((error as Error).message)}`;
  }
}

/** Cache of compiled patterns. Thousands of definitions share a few patterns, and compiling is the slowest step. */
const kept = new Map<string, NameMatcher | string>();
/** Limit of the cache, in characters plus instructions: about 50 MB. 10,000 patterns of usual size fit. */
const MOST_KEPT = 1_000_000;
/** Weight of an empty pattern, in characters. */
const LEAST_WEIGHT = 50;
let weight = 0;

/** Adds a pattern and drops the oldest ones, so that new patterns never fill the memory. */
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

/**
 * Removes the part that the operator did not write: "error parsing regexp: missing closing ): `(?s)app(`" becomes
 * "missing closing ): `app(`".
 */
function withoutFlags(message: string): string {
  return message.replace('error parsing regexp: ', '').replace('`(?s)', '`');
}
