import { InvalidOptionsError, show } from '../../core/decision/index.js';
import type { Outcome } from '../rules/task.js';
import type { Submitted } from '../rules/answers.js';
import type { SubmitArguments, SubmitRequest } from '../records/submit-many.js';
import type { TaskName } from '../rules/task-id.js';
import type { TaskFault } from '../rules/task-parts.js';

/** A task for its handler. */
export interface TaskContext<In = unknown> {
  /** Id of the task. */
  readonly id: string;
  /** Name of its type. */
  readonly type: string;
  /**
   * The same text in all attempts at one submission of the task, and another one when its id is submitted again. Guard effects with
   * it that are to happen once per submission: `id` is the same each time, and `token` grows with each attempt.
   */
  readonly key: string;
  /** Its place in its group; absent for a task of its own. */
  readonly member?: MemberContext;
  /** The data that were submitted; undefined if there were none. */
  readonly data: In;
  /** Fencing token: grows with each attempt. Give it to guarded resources. */
  readonly token: number;
  /** From 1: attempts that failed or crashed count. */
  readonly attempt: number;
  /** Aborts when this node loses the task, or shuts down. Then stop: the result will be refused. */
  readonly signal: AbortSignal;
  /** How long this node may count on the task. */
  readonly lease: TaskLease;
  /**
   * Says how far this attempt has come, for `find()` and `explain()`. Call it as often as you like: it is written at most about
   * once a second, together with a renewal of the lease or the end where it can be. It has no effect after the attempt's end.
   *
   * @param done from 0
   * @param total from 0, in the same unit
   * @param note one line of at most 200 characters
   * @throws InvalidOptionsError
   */
  progress(done: number, total: number, note?: string): void;
  /**
   * Submits a sub-task: this task ends when it has ended, too. Its id is made of this task's id and the given name, so the
   * same name is the same sub-task in each attempt, and another one in each other task.
   *
   * @param name made with `single()`; or with `grouped()`, whose group's handler is then awaited as well
   * @param rest data and options as for {@link TasksService.submit}; `dedup` has no effect
   * @throws LeaseExpiredError if this node does not own the task any more
   * @throws as {@link TasksService.submit}
   */
  submit<In>(name: TaskName<In>, ...rest: SubmitArguments<In>): Promise<Submitted>;
  /**
   * Submits a list of sub-tasks, 64 at the same time.
   *
   * @param tasks as for {@link TasksService.submitMany}
   * @throws InvalidOptionsError if options stand beside the list
   * @throws SubmitManyError after the first error
   */
  submitMany<In>(tasks: Iterable<SubmitRequest<In>> | AsyncIterable<SubmitRequest<In>>): Promise<Submitted[]>;
}

/** The place of a task in its group. */
export interface MemberContext {
  /** Name of the group, as it was submitted. */
  readonly group: string;
  /** From 1. */
  readonly number: number;
  /** The `key` of the context of the group's handler: the same for all members, and another one each time the group begins anew. */
  readonly groupKey: string;
}

/** How long this node may count on its task. */
export interface TaskLease {
  /** ms; 0 after the end. */
  readonly remaining: number;
  /**
   * Makes the lease last at least so long from now.
   *
   * @param duration ms, or text ("5m"); default: the lease of the handler
   * @throws LeaseExpiredError if this node does not own the task any more
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer; the end of the lease stays
   */
  renew(duration?: number | string): Promise<void>;
}

/** Works on one task. Its result is kept as JSON. */
export type TaskFunction<In = unknown, Out = unknown> = (task: TaskContext<In>) => Out | Promise<Out>;

/** A group of which all members have ended. */
export interface GroupContext<Out = unknown> extends Omit<TaskContext<undefined>, 'data' | 'member'> {
  /** Name of the group, as it was submitted. */
  readonly group: string;
  /** Number of members. */
  readonly total: number;
  /** Number of members that completed. */
  readonly completed: number;
  /** Number of members that did not complete. */
  readonly failed: number;
  /** The members with their results or errors, in pages, by number. */
  members(): AsyncGenerator<EndedMember<Out>>;
}

/** A member of a group that has ended. */
export interface EndedMember<Out = unknown> {
  /** Its number in the group, from 1. */
  readonly number: number;
  /** Id of the task. */
  readonly id: string;
  /** How it ended. */
  readonly outcome: Outcome;
  /** The value that its handler returned; absent for none, and if it did not complete. */
  readonly result?: Out;
  /** The error of its last attempt, if it did not complete. */
  readonly error?: TaskFault;
}

/**
 * Runs once all members of a group have ended: at least once, and again after a crash. Its `key` guards effects that are to happen
 * once each time the group has ended; its token guards resources that refuse older tokens.
 */
export type GroupFunction<Out = unknown> = (group: GroupContext<Out>) => unknown;

/** Called with a task that no attempt can complete. */
export type InvalidTaskFunction = (task: Pick<TaskContext, 'id' | 'type' | 'data' | 'token'>, error: Error) => unknown;

/** Callers without types may give anything. @throws InvalidOptionsError */
export function expectHandler(what: string, handler: unknown): void {
  if (typeof handler === 'function') return;
  throw new InvalidOptionsError(what, [`handler: ${show(handler)} is no function`]);
}

/** Does what must be done before a handler. @returns the call of the handler */
type Preparation<Args extends unknown[]> = (...args: Args) => Promise<() => unknown> | (() => unknown);

const PREPARATION = Symbol('preparation');

/**
 * A handler that is not called after the lease of its task: the lease is looked at when its preparation has ended, which may wait
 * for the store, or for a provider in request scope.
 */
export function preparedHandler<Args extends unknown[]>(
  prepare: Preparation<Args>,
): (...args: Args) => Promise<unknown> {
  const handler = async (...args: Args): Promise<unknown> => (await prepare(...args))();
  return Object.assign(handler, { [PREPARATION]: prepare });
}

/** The preparation of a handler of any kind. */
export function preparationOf<Args extends unknown[]>(handler: (...args: Args) => unknown): Preparation<Args> {
  const { [PREPARATION]: prepare } = handler as { [PREPARATION]?: Preparation<Args> };
  return (
    prepare ??
    ((...args) =>
      () =>
        handler(...args))
  );
}
