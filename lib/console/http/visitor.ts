import { LEADER_PREFIX, show } from '../../core/decision/index.js';
import type { Role } from '../api/index.js';
import { ProblemError } from './problem.error.js';

/** The sender of a request, and its rights. */
export interface Visitor {
  /** Name of the sender, for the audit log. */
  readonly user: string;
  readonly role: Role;
  /** The semaphores that it may see and change; absent if it may see and change all. */
  readonly names?: { readonly pattern: string; readonly matches: (name: string) => boolean };
  /** Whether others may send requests under the same name: it is of no token, and no guard gave it. */
  readonly isNameless?: boolean;
  /** ms of the longest lease of a task; absent: the usual one. */
  readonly maxLease?: number;
  /** Whether the sender may only take, refresh and release permits. */
  readonly permitsOnly?: boolean;
}

/** Whether a visitor may see a semaphore. Undefined if it may see all. */
export type Sees = ((name: string) => boolean) | undefined;

export function seesOf({ names }: Visitor): Sees {
  return names?.matches;
}

/**
 * Checks that a visitor may see all semaphores in the input of a call.
 *
 * @throws ProblemError for a semaphore that the visitor may not see
 */
export function expectSeen({ user, names }: Visitor, ...parts: readonly unknown[]): void {
  const other = parts.flatMap(namesIn).find((name) => names && !names.matches(name));
  if (other === undefined) return;
  const detail = `the token of ${show(user)} is for semaphores that match ${show(names!.pattern)}, not for ${show(other)}`;
  throw new ProblemError('token-limited', detail);
}

function namesIn(part: unknown): string[] {
  const { name, semaphore, scope } = (part ?? {}) as { name?: unknown; semaphore?: unknown; scope?: unknown };
  const leader = typeof scope === 'string' ? LEADER_PREFIX + scope : undefined;
  return [name, semaphore, leader].filter((each) => typeof each === 'string');
}
