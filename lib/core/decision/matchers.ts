import type { SemaphoreDefinition } from './answers.js';
import { compilePattern, patternFault, stepsOf } from './patterns/pattern.js';

/** The patterns of a definition, compiled on first use. */
interface DefinitionMatchers {
  readonly group: (name: string) => boolean;
  readonly acquirer: (name: string) => boolean;
}

/** Answers kept per pattern. A node asks about itself at every decision, and about a few others sometimes. */
const MOST_ANSWERS = 8;
const ANY = '.*';
/** Each call for a name on demand has a definition of its own, with these patterns. */
const ANYONE: DefinitionMatchers = { group: matcher(ANY), acquirer: matcher(ANY) };
const matchersByDefinition = new WeakMap<SemaphoreDefinition, DefinitionMatchers>();

/**
 * The matchers of a definition, made once per object, so once per revision that this process has read. They keep
 * answers but no compiled patterns: those of ten thousand definitions with different patterns would fill the memory.
 */
export function matchersOf(definition: SemaphoreDefinition): DefinitionMatchers {
  const { groupPattern, acquirerPattern } = definition;
  if (groupPattern === ANY && acquirerPattern === ANY) return ANYONE;
  const found = matchersByDefinition.get(definition);
  if (found) return found;
  const matchers = { group: matcher(groupPattern), acquirer: matcher(acquirerPattern) };
  matchersByDefinition.set(definition, matchers);
  return matchers;
}

/**
 * Faults of a stored definition's patterns. A pattern with a fault matches no name: its cost is over the limit, or this
 * version of RE2 can't compile it.
 *
 * @param faultOf finds the fault of one pattern; pass {@link costFault} to compile nothing
 * @returns sentences that begin with the field's name; empty if both patterns can be used
 */
export function patternFaults(
  { groupPattern, acquirerPattern }: SemaphoreDefinition,
  faultOf: (pattern: string) => string | undefined = patternFault,
): string[] {
  return Object.entries({ groupPattern, acquirerPattern }).flatMap(([field, pattern]) => {
    const fault = faultOf(pattern);
    return fault === undefined ? [] : [`${field}: ${fault}; as it is stored it matches no name`];
  });
}

/**
 * Finds the first pattern that does not match a node. Works in pieces of a few ms each, because compiling or matching
 * one pattern may take that long. Each `yield` gives the number of matching steps that come next.
 */
export function* mismatchInPieces(
  definition: SemaphoreDefinition,
  node: { readonly group: string; readonly acquirer: string },
): Generator<number, 'group' | 'acquirer' | undefined, void> {
  const { group, acquirer } = matchersOf(definition);
  yield stepsToMatch(definition.groupPattern, node.group);
  if (!group(node.group)) return 'group';
  yield stepsToMatch(definition.acquirerPattern, node.acquirer);
  return acquirer(node.acquirer) ? undefined : 'acquirer';
}

/** Compiles patterns in advance, in pieces, so that many patterns do not block the event loop. */
export function* compileInPieces(patterns: readonly string[]): Generator<number, void, void> {
  for (const pattern of patterns) {
    compilePattern(pattern);
    yield 1;
  }
}

function stepsToMatch(pattern: string, name: string): number {
  const compiled = compilePattern(pattern);
  return typeof compiled === 'string' ? 1 : stepsOf(compiled, name);
}

function matcher(pattern: string): (name: string) => boolean {
  const answers = new Map<string, boolean>();
  return (name) => {
    const known = answers.get(name);
    if (known !== undefined) return known;
    const answer = matches(pattern, name);
    if (answers.size >= MOST_ANSWERS) answers.clear();
    answers.set(name, answer);
    return answer;
  };
}

function matches(pattern: string, name: string): boolean {
  const compiled = compilePattern(pattern);
  return typeof compiled !== 'string' && compiled(name);
}
