import type { SemaphoreDefinition } from '../definition.js';
import { compilePattern, patternFault, stepsOf } from './pattern.js';

/** The patterns of a definition, compiled when they are first needed. */
export interface DefinitionMatchers {
  readonly group: (name: string) => boolean;
  readonly acquirer: (name: string) => boolean;
}

/** Answers kept per pattern: a node asks for itself at every decision, and for a few others now and then. */
const MOST_ANSWERS = 8;
const matchersByDefinition = new WeakMap<SemaphoreDefinition, DefinitionMatchers>();

/**
 * The matchers of a definition, made once per object, that is, once per revision that this process has read. They hold no
 * compiled pattern: ten thousand definitions with patterns of their own would fill the memory.
 */
export function matchersOf(definition: SemaphoreDefinition): DefinitionMatchers {
  const found = matchersByDefinition.get(definition);
  if (found) return found;
  const matchers = { group: matcher(definition.groupPattern), acquirer: matcher(definition.acquirerPattern) };
  matchersByDefinition.set(definition, matchers);
  return matchers;
}

/**
 * Why patterns of a stored definition match no name: they cost too much, or another version of RE2 wrote them.
 *
 * @param faultOf what is wrong with one pattern; {@link costFault} compiles nothing
 * @returns sentences that begin with the field; none when both can be used
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
 * The first pattern that keeps a node out, found in pieces of some ms each: compiling a pattern may take that long, and
 * so may matching it. Each `yield` gives the number of matching steps that come next.
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

/** Compiles patterns ahead, in pieces: a caller that needs many of them does not wait for all at once. */
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
