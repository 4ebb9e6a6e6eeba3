import { RE2JS } from 're2js';
import { show } from './duration.js';

/** Long enough for a list of a hundred host names, short enough to compile in no time. */
export const LONGEST_PATTERN = 4096;

/** Matches no name at all: the group pattern of a paused semaphore. */
export const NOBODY = '[^\\s\\S]';

/** A compiled pattern: whether it matches the whole name. */
export type NameMatcher = (name: string) => boolean;

/** Patterns that are kept compiled: thousands of definitions share a few, and compiling takes longer than all the rest. */
const MOST_KEPT = 1000;
/** Larger ones are not kept, in RE2's instructions: a list of 80 host names has 800, and takes a tenth of a megabyte. */
const LARGEST_KEPT = 1000;
const kept = new Map<string, NameMatcher>();

/**
 * Compiles an operator's pattern. RE2 runs in linear time, so that no pattern can hang a node.
 *
 * @returns the matcher, or a sentence (without the field's name) that says what is wrong
 */
export function compilePattern(pattern: string): NameMatcher | string {
  if (pattern.length > LONGEST_PATTERN) return `${show(pattern)} is longer than ${LONGEST_PATTERN} characters`;
  if (pattern === '.*') return () => true;
  const known = kept.get(pattern);
  if (known) return known;
  try {
    const compiled = RE2JS.compile(pattern, RE2JS.DOTALL);
    const matcher = (name: string) => compiled.matches(name);
    if (compiled.programSize() <= LARGEST_KEPT) keep(pattern, matcher);
    return matcher;
  } catch (error) {
    return `${show(pattern)} is not an RE2 pattern: ${withoutFlags((error as Error).message)}`;
  }
}

function keep(pattern: string, matcher: NameMatcher): void {
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(pattern, matcher);
}

/** The pattern that matches this name and no other: as it stands, "eu.west" would let "eu-west" through. */
export function exactly(name: string): string {
  return RE2JS.quote(name);
}

/** What nobody wrote is not told: "error parsing regexp: missing closing ): `(?s)app(`" -> "missing closing ): `app(`". */
function withoutFlags(message: string): string {
  return message.replace('error parsing regexp: ', '').replace('`(?s)', '`');
}
