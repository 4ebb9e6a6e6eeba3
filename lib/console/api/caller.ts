import { LEADER_PREFIX, quoted, show } from '../../core/decision/index.js';
import type { Overview, Parts } from '../../gatekeeper/index.js';
import { ProblemError } from './problem.error.js';
import { type Role, includes } from './roles.js';

/** The sender of a request, and its rights. */
export interface Visitor {
  /** Name of the sender, for the audit log. */
  readonly user: string;
  readonly role: Role;
  /** The semaphores that it may see and change; absent if it may see and change all. */
  readonly names?: { readonly pattern: string; readonly matches: (name: string) => boolean };
  /** Whether others may send requests under the same name: it is of no token, and no guard gave it. */
  readonly isNameless?: boolean;
  /** The end of the sender's session, by the clock of this node: ms since the epoch. Absent without one. */
  readonly endsAt?: number;
  /** ms of the longest lease of a task; absent: the usual one. */
  readonly maxLease?: number;
  /** Whether the sender may only take, refresh and release permits. */
  readonly permitsOnly?: boolean;
}

/** Whether a visitor may see a semaphore. Undefined if it may see all. */
export type Sees = ((name: string) => boolean) | undefined;

/** A visitor that calls an operation. */
export interface Caller extends Visitor {
  readonly sees: Sees;
  readonly limits: Limits;
  /** Aborts when the caller has gone. Work for its answer can stop then. */
  readonly signal: AbortSignal;
  /** Whether the answer may be a second old. Then it shares an overview with other callers. Default false. */
  readonly takesRecent?: boolean;
}

/** The overview of all semaphores for an answer. */
export function overviewFor(
  { takesRecent = false }: Caller,
  { overviews }: Pick<Parts, 'overviews'>,
): Promise<Overview> {
  return takesRecent ? overviews.recent() : overviews.read();
}

/** A change of many definitions. It reports how many it will change before the first change. */
export type ChangeOfMany<Result> = (onPlanned: (count: number) => void) => Promise<Result>;

/** Tasks of one type that a caller has submitted or claimed. */
export interface CountedTasks {
  /** Id of the first one. */
  readonly first: string;
  readonly count: number;
  /** `unknown`: the store gave no clear answer. */
  readonly outcome?: 'unknown';
}

/** Limits of what one caller may do. They also count calls for the audit log. */
export interface Limits {
  /** How fast the caller may make changes, and submit and claim tasks. */
  readonly changes: {
    /** Counts a single change. @throws ProblemError if there are too many */
    noteOne(caller: Visitor): void;
    /** Counts a submission, or a claim. @throws ProblemError if there are too many */
    noteTaskCall(caller: Visitor): void;
    /**
     * Makes a change of many definitions, and counts its changes.
     *
     * @param written returns the number of changed definitions in the result
     * @throws ProblemError while earlier changes are above the limit; then nothing was changed
     */
    ofMany<Result>(caller: Visitor, change: ChangeOfMany<Result>, written: (result: Result) => number): Promise<Result>;
    /** The same for a pause of many: it counts, but is never refused, because it may be an emergency. */
    ofPause<Result>(caller: Visitor, pause: ChangeOfMany<Result>, written: (result: Result) => number): Promise<Result>;
  };
  readonly taskCalls: {
    /** Counts tasks of one type in the audit log. */
    note(action: 'submit-tasks' | 'claim-tasks', caller: Visitor, type: string, tasks: CountedTasks): void;
  };
  /** Counts a test of the receivers of alerts. @throws ProblemError if there are too many */
  noteTest(): void;
  /**
   * Waits for something, if `wait` is above 0.
   *
   * @param kind of waiting calls that count together
   * @param wait ms
   * @throws ProblemError if too many calls of the same kind and caller wait already, or the error of `work`
   */
  waiting<T>(kind: 'permits' | 'runs' | 'tasks', caller: Visitor, wait: number, work: () => Promise<T>): Promise<T>;
}

/** @throws ProblemError if the visitor's role is too low */
export function expectRole({ user, role }: Visitor, needed: Role): void {
  if (includes(role, needed)) return;
  throw new ProblemError('role-too-low', `${quoted(user)} has the role ${role}, but this needs ${needed}`);
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
