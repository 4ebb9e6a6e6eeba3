import { show } from './texts/show.js';
import { InvalidOptionsError } from './invalid-options.error.js';

/** Semaphores of the package itself: neither applications nor operators change them. */
const OWN_PREFIXES = ['gatekeeper:', 'shard:'];
/** Semaphores that the package makes for the application; operators may pause, edit and revoke them. */
const MADE_PREFIXES = ['leader:', 'task:'];
const RESERVED_PREFIXES = [...OWN_PREFIXES, ...MADE_PREFIXES];

/** Thrown for a name that begins with a prefix that this package keeps for itself. */
export class ReservedNameError extends InvalidOptionsError {
  override readonly code = 'reserved-name';
}

/** Whether a name is one of the package's own, which bulk changes leave alone. */
export function isOwnName(name: string): boolean {
  return prefixOf(name, OWN_PREFIXES) !== undefined;
}

/** The fault of a name that an application can't take, release or define, in a sentence. */
export function reservedNameFault(name: string): string | undefined {
  const prefix = prefixOf(name, RESERVED_PREFIXES);
  return prefix === undefined ? undefined : `${show(name)}: the prefix "${prefix}" is reserved, take another name`;
}

/**
 * Checks the name of a permit or definition that an application or a caller asks for. The package's own use skips it.
 *
 * @returns the name
 * @throws ReservedNameError
 */
export function unreserved(name: string): string {
  const fault = reservedNameFault(name);
  if (fault) throw new ReservedNameError("a semaphore's name", [fault]);
  return name;
}

/** Checks a name that an operator changes. @throws ReservedNameError for the package's own semaphores */
export function expectChangeable(name: string): void {
  if (isOwnName(name)) unreserved(name);
}

function prefixOf(name: string, prefixes: readonly string[]): string | undefined {
  // Callers of the API may pass anything; other checks refuse a value that is no text.
  return typeof name === 'string' ? prefixes.find((prefix) => name.startsWith(prefix)) : undefined;
}
