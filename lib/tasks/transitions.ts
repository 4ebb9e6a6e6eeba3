import { pauseAfter } from '../async/backoff.js';
import { nextToken } from '../decision/index.js';
import type { Ending, Member, Outcome, Priority, Task, TaskFault, TaskLimits } from './task.js';

/**
 * The changes of a task, as pure functions. Each returns the next task; the caller writes it by comparison with the
 * former text, so that of two changes at once one is refused.
 *
 * | change     | from                 | to                                    | counts    |
 * | ---------- | -------------------- | ------------------------------------- | --------- |
 * | `submit`   | none, or finished    | waiting, delayed                      |           |
 * | `hint`     | waiting, delayed     | waiting                               |           |
 * | `claim`    | waiting              | claimed, with a higher token          |           |
 * | `renew`    | claimed              | claimed, for longer                   |           |
 * | `giveBack` | claimed              | waiting                               |           |
 * | `end`      | claimed; by hand any | done; finished if it is in no group   |           |
 * | `fail`     | claimed              | delayed; done or finished at the last | `attempts` |
 * | `expire`   | claimed              | waiting; done or finished at the last | `crashes` |
 * | `finish`   | done                 | finished                              |           |
 * | `requeue`  | finished             | waiting, with fresh counts            |           |
 */

/** Time and id of one write. */
export interface Stamp {
  /** Cluster time in ms. */
  readonly now: number;
  readonly nonce: string;
}

export interface Submission {
  readonly id: string;
  readonly type: string;
  readonly priority: Priority;
  readonly limits: TaskLimits;
  /** Cluster time in ms; absent: at once. */
  readonly runAt?: number;
  readonly data?: unknown;
  readonly member?: Member;
  readonly join?: Task['join'];
}

/** @param former the task of this id that has ended, if the store still has it: tokens go on from its token */
export function submit(submission: Submission, former: Task | undefined, { now, nonce }: Stamp): Task {
  const { runAt, ...kept } = submission;
  const isDelayed = runAt !== undefined && runAt > now;
  return {
    ...kept,
    ...(isDelayed ? { state: 'delayed', at: runAt } : { state: 'waiting', at: now }),
    nonce,
    token: former?.token ?? 0,
    submittedAt: now,
    attempts: 0,
    crashes: 0,
  };
}

/** Written before a new hint is offered. So the texts' order says which tasks may have lost their hint. */
export function hint(task: Task, { now, nonce }: Stamp): Task {
  return { ...task, born: bornOf(task), state: 'waiting', at: now, nonce };
}

/** @param lease ms */
export function claim(task: Task, owner: string, lease: number, { now, nonce }: Stamp): Task {
  return {
    ...task,
    born: bornOf(task),
    state: 'claimed',
    at: now + lease,
    owner,
    token: nextToken(task.token, now),
    nonce,
  };
}

/** Never shortens the lease. */
export function renew(task: Task, lease: number, { now, nonce }: Stamp): Task {
  return { ...task, at: Math.max(task.at, now + lease), nonce };
}

/** The node does not work on it after all: it shuts down. */
export function giveBack(task: Task, { now, nonce }: Stamp): Task {
  return { ...withoutOwner(task), state: 'waiting', at: now, nonce };
}

export function end(task: Task, outcome: Outcome, { now, nonce }: Stamp, result?: unknown): Task {
  const ending: Ending = { outcome, at: now, by: nonce, ...(result !== undefined && { result }) };
  const { error, ...others } = withoutOwner(task);
  const ended: Task = {
    ...others,
    ...(error && outcome !== 'completed' && { error }),
    state: 'done',
    at: now,
    nonce,
    ending,
  };
  return isInGroup(task) ? ended : finish(ended, { now, nonce });
}

/**
 * An attempt ended with an error.
 *
 * @param chance 0 to 1
 */
export function fail(task: Task, error: TaskFault, stamp: Stamp, chance: number): Task {
  const failed = { ...task, error, attempts: task.attempts + 1 };
  const { maxAttempts, backoff } = task.limits;
  if (failed.attempts >= maxAttempts) return end(failed, 'failed', stamp);
  return retryAt(failed, stamp.now + pauseAfter(task.attempts, chance, { ...backoff, jitter: 0.5 }), stamp);
}

/** The handler wants another attempt later, which is no failure. */
export function retryAt(task: Task, at: number, { nonce }: Stamp): Task {
  return { ...withoutOwner(task), state: 'delayed', at: Math.ceil(at), nonce };
}

/** The lease ended without a word of its node. */
export function expire(task: Task, stamp: Stamp): Task {
  const crashed = { ...task, crashes: task.crashes + 1 };
  return crashed.crashes >= task.limits.maxCrashes ? end(crashed, 'crashed', stamp) : giveBack(crashed, stamp);
}

/** Its group knows that it has ended. */
export function finish(task: Task, { now, nonce }: Stamp): Task {
  const { retention, deadLetterRetention } = task.limits;
  const kept = task.ending?.outcome === 'completed' ? retention : deadLetterRetention;
  return { ...task, state: 'finished', at: now + kept, nonce };
}

/** Another try by hand: both counts begin anew. */
export function requeue(task: Task, { now, nonce }: Stamp): Task {
  const { ending: _ending, ...kept } = task;
  return { ...kept, state: 'waiting', at: now, attempts: 0, crashes: 0, nonce };
}

/** Nonce of the submission. */
export function bornOf({ born, nonce }: Task): string {
  return born ?? nonce;
}

/** Whether another record must learn that the task has ended. */
export function isInGroup({ member, join }: Pick<Task, 'member' | 'join'>): boolean {
  return member !== undefined || join !== undefined;
}

export function hasEnded({ state }: Task): boolean {
  return state === 'done' || state === 'finished';
}

function withoutOwner({ owner: _owner, ...task }: Task): Task {
  return task;
}
