import type { SemaphoreDefinition } from './definition.js';
import { type NameMatcher, compilePattern } from './pattern.js';

/** The compiled patterns of a definition. */
export interface DefinitionMatchers {
  readonly group: NameMatcher;
  readonly acquirer: NameMatcher;
}

const compiled = new WeakMap<SemaphoreDefinition, DefinitionMatchers>();

/** Looks up once per definition object, that is, once per revision that this process has read. */
export function matchersOf(definition: SemaphoreDefinition): DefinitionMatchers {
  const known = compiled.get(definition);
  if (known) return known;
  const matchers = { group: matcher(definition.groupPattern), acquirer: matcher(definition.acquirerPattern) };
  compiled.set(definition, matchers);
  return matchers;
}

/** A pattern that was valid when it was stored; if it is not for us (another RE2 version), it matches nobody. */
function matcher(pattern: string): NameMatcher {
  const result = compilePattern(pattern);
  return typeof result === 'string' ? () => false : result;
}
