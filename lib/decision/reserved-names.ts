import { show } from './duration.js';
import { InvalidOptionsError } from './invalid-options.error.js';

/** Semaphores of the package itself, which operators don't change either. */
const OWN_PREFIXES = ['gatekeeper:', 'shard:'];
/** Semaphores that the package makes for the application; operators may pause, edit and revoke them. */
const MADE_PREFIXES = ['leader:', 'task:'];
const RESERVED_PREFIXES = [...OWN_PREFIXES, ...MADE_PREFIXES];

/** The name of a semaphore begins with a prefix that this package keeps for itself. */
export class ReservedNameError extends InvalidOptionsError {
  override readonly code = 'reserved-name';
}

/** Whether a name is one of the package's own, which changes of many leave alone. */
export function isOwnName(name: string): boolean {
  return prefixOf(name, OWN_PREFIXES) !== undefined;
}

/** The fault of a name that an application can't take, release or define, in a sentence. */
export function reservedNameFault(name: string): string | undefined {
  const prefix = prefixOf(name, RESERVED_PREFIXES);
  return prefix === undefined ? undefined : `${show(name)}: the prefix "${prefix}" is reserved, take another name`;
}

/**
 * For permits and definitions that an application or a caller asks for. The package's own use goes around it.
 *
 * @returns the name
 * @throws ReservedNameError
 */
export function unreserved(name: string): string {
  const fault = reservedNameFault(name);
  if (fault) throw new ReservedNameError("a semaphore's name", [fault]);
  return name;
}

/** For changes by operators. @throws ReservedNameError for the package's own semaphores */
export function expectChangeable(name: string): void {
  if (isOwnName(name)) unreserved(name);
}

function prefixOf(name: string, prefixes: readonly string[]): string | undefined {
  // Callers of the API may pass anything; what is no text is refused as such elsewhere.
  return typeof name === 'string' ? prefixes.find((prefix) => name.startsWith(prefix)) : undefined;
}
