import { show } from './texts/show.js';
import type { SemaphoreDefinition } from './answers.js';
import { InvalidOptionsError } from './invalid-options.error.js';

/** Prefixes of the package's own semaphores. Neither applications nor operators can change these semaphores. */
const OWN_PREFIXES = ['gatekeeper:', 'shard:'];
/** Prefix of the semaphores whose permit makes a node the leader of a scope. */
export const LEADER_PREFIX = 'leader:';
/** The job of the runs that show terms of leadership. */
export const LEADERSHIP_JOB = 'leadership';
/** Prefix of the semaphores that limit the types of tasks. */
export const TASK_PREFIX = 'task:';
/** Prefixes of semaphores that the package makes for the application. Operators may pause, edit and revoke them. */
const MADE_PREFIXES = [LEADER_PREFIX, TASK_PREFIX];
const RESERVED_PREFIXES = [...OWN_PREFIXES, ...MADE_PREFIXES];

/** A name begins with a prefix that is reserved for this package. */
export class ReservedNameError extends InvalidOptionsError {
  static override readonly className = 'ReservedNameError';
  override readonly code = 'reserved-name';
}

/** Whether a name belongs to the package itself. Bulk changes skip such names. */
export function isOwnName(name: string): boolean {
  return prefixOf(name, OWN_PREFIXES) !== undefined;
}

/** The fault of a reserved name, in a sentence. An application can't acquire or release such a name. */
export function reservedNameFault(name: string): string | undefined {
  const prefix = prefixOf(name, RESERVED_PREFIXES);
  return prefix === undefined ? undefined : `${show(name)}: the prefix "${prefix}" is reserved, take another name`;
}

/**
 * Checks a name that an application or an external caller uses. The package itself skips this check.
 *
 * @returns the name
 * @throws ReservedNameError
 */
export function unreserved(name: string): string {
  const fault = reservedNameFault(name);
  if (fault) throw new ReservedNameError("a semaphore's name", [fault]);
  return name;
}

/** The form of the name of a type of tasks. */
const TASK_TYPE = /^[\w.-]{1,64}$/;

/** Whether a text is the name of a type of tasks. */
export function isTaskType(type: string): boolean {
  return TASK_TYPE.test(type);
}

/** The fault of a name that people define, in a sentence. The package defines leaderships. People limit types of tasks. */
export function definedNameFault(name: string): string | undefined {
  if (prefixOf(name, [TASK_PREFIX]) === undefined) return reservedNameFault(name);
  const type = name.slice(TASK_PREFIX.length);
  return isTaskType(type) ? undefined : `${show(name)}: ${show(type)} is no type of tasks`;
}

/**
 * Checks the name of a new definition.
 *
 * @throws ReservedNameError
 */
export function expectDefinable(name: string): void {
  const fault = definedNameFault(name);
  if (fault) throw new ReservedNameError("a semaphore's name", [fault]);
}

/**
 * Checks the name of a semaphore that an operator changes.
 *
 * @throws ReservedNameError for the package's own semaphores
 */
export function expectChangeable(name: string): void {
  if (isOwnName(name)) unreserved(name);
}

/**
 * Checks a definition that an operator writes.
 *
 * @throws InvalidOptionsError if a scope could have several leaders
 */
export function expectOneLeader({ name, permits }: Pick<SemaphoreDefinition, 'name' | 'permits'>): void {
  if (permits <= 1 || !name.startsWith(LEADER_PREFIX)) return;
  const fault = `permits: ${permits} would give the scope ${permits} leaders: give 1, or 0 for none`;
  throw new InvalidOptionsError(`semaphore ${show(name)}`, [fault]);
}

function prefixOf(name: string, prefixes: readonly string[]): string | undefined {
  // API callers may pass any value. Other checks refuse a value that is not a string.
  if (typeof name !== 'string') return undefined;
  // Not `find`: each use of a name on demand asks several times.
  for (const prefix of prefixes) if (name.startsWith(prefix)) return prefix;
  return undefined;
}
