import { pauseAfter } from '../../core/async/backoff.js';
import { isProgram } from '../../core/context/node-identity.js';
import { nextToken } from '../../core/decision/index.js';
import { instanceIn } from './claim.js';
import {
  faultText,
  type Awaited,
  type Ending,
  type Incarnation,
  MOST_PAST,
  type Member,
  type Outcome,
  type Priority,
  type Task,
  type TaskLimits,
  USUAL_LEASE,
  familyIn,
} from './task.js';
import { taskOf } from './task.codec.js';
import type { Cancellation, GroupCounts, PastAttempt, TaskFault } from './task-parts.js';

/**
 * The changes of a task, as pure functions. Each returns the next task; the caller writes it by comparison with the
 * former text, so that of two changes at once one is refused.
 *
 * | change     | from                 | to                                    | counts    |
 * | ---------- | -------------------- | ------------------------------------- | --------- |
 * | `submit`   | none, or finished    | waiting, delayed, blocked             |           |
 * | `firstState` | none, or finished  | done, as `cancelled`, in a stopped group; as `completed` for a group without members | |
 * | `hint`     | waiting, delayed     | waiting                               |           |
 * | `readdress` | waiting             | waiting, for another process          |           |
 * | `unblock`  | blocked              | blocked, waiting, delayed; done or finished, as `cancelled`, if one of those before it failed | |
 * | `claim`    | waiting              | claimed, with a higher token          |           |
 * | `renew`    | claimed              | claimed, for longer                   |           |
 * | `giveBack` | claimed              | waiting                               |           |
 * | `split`    | claimed              | claimed: its sub-tasks are counted     |           |
 * | `end`      | claimed              | awaiting if it has sub-tasks; else done; finished if no other record must learn it | |
 * | `subTasksEnded` | awaiting        | done                                  |           |
 * | `fail`     | claimed              | delayed; done or finished at the last | `attempts` |
 * | `expire`   | claimed              | waiting; done or finished at the last | `crashes` |
 * | `finish`   | done                 | finished                              |           |
 * | `begin`    | done                 | waiting, delayed: its next life       |           |
 * | `cancel`   | waiting, delayed, blocked | done or finished, as `cancelled`      |           |
 * | `cancel`   | claimed by a program | done or finished, as `cancelled`      |           |
 * | `cancel`   | claimed by a node    | claimed, with the wish to cancel      |           |
 * | `hurry`    | delayed              | waiting, with fresh counts            |           |
 * | `requeue`  | done, finished       | waiting, with fresh counts            |           |
 *
 * With the wish to cancel, `giveBack`, `end`, `fail`, `retryAt` and `expire` all end the task as `cancelled`.
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
  readonly dataText?: Task['dataText'];
  readonly to?: Task['to'];
  readonly fairKey?: string;
  /** As {@link Task.trace}. */
  readonly trace?: string;
  readonly member?: Member;
  readonly join?: Task['join'];
  readonly sub?: Task['sub'];
  readonly failGroupFast?: true;
  /** Ids of the tasks and groups that must end before. They are looked up when the task is made: see {@link after}. */
  readonly awaits?: readonly string[];
  readonly after?: readonly Awaited[];
  readonly afterFailed?: 'run';
  /** The serial queue in which it gets its place after this write. */
  readonly queue?: string;
}

/** Characters that are kept of the error of a past attempt. */
const LONGEST_PAST = 300;
/** ms until the sweep looks whether the submitter of a blocked task died before it had looked itself. */
const FIRST_LOOK = 5000;
/** ms between two looks at a task that is blocked: as long as it has been waiting, within these limits. */
const LOOKS = { shortest: 5000, longest: 3_600_000 };
/** Fields that say for what a task waits. A task that has ended has none. */
const WITHOUT_WAITS = { isPutOff: undefined, after: undefined, afterFailed: undefined, runAt: undefined };

/** @param former the task of this id that has ended, if the store still has it: tokens go on from its token */
export function submit(submission: Submission, former: Task | undefined, { now, nonce }: Stamp): Task {
  const { runAt, awaits: _awaits, after = [], afterFailed, ...kept } = submission;
  const { state, at } = ready(runAt, now);
  const token = former?.token ?? 0;
  const counts = { attempts: 0, crashes: 0 };
  const task = taskOf(kept, { state, at, nonce, token, submittedAt: now, ...counts, ...(former && formerOf(former)) });
  if (task.queue !== undefined) return enqueued({ ...task, afterFailed, runAt }, now);
  return after.length === 0 ? task : { ...task, afterFailed, runAt, state: 'blocked', at: now + FIRST_LOOK, after };
}

/** A task of a serial queue that has no place there yet. It runs also if the one before it fails. */
function enqueued(task: Task, now: number): Task {
  return { ...task, state: 'blocked', at: now + FIRST_LOOK, afterFailed: 'run' };
}

/** State of a task for which only its time may have to come. */
export function ready(runAt: number | undefined, now: number): Pick<Task, 'state' | 'at'> {
  return runAt !== undefined && runAt > now ? { state: 'delayed', at: runAt } : { state: 'waiting', at: now };
}

/** A new hint goes with its write. So the texts' order says which tasks may have lost their hint. */
export function hint(task: Task, { now, nonce }: Stamp): Task {
  return { ...task, born: bornOf(task), state: 'waiting', at: now, nonce };
}

/** Its process is gone: the task waits for another one. */
export function readdress(task: Task, to: NonNullable<Task['to']>, stamp: Stamp): Task {
  return { ...hint(task, stamp), to };
}

/** Something that a task waited for, and that has ended. */
export interface EndedAwaited extends Awaited {
  readonly outcome: Outcome;
}

/**
 * A blocked task after some of those that it waits for have ended. It goes on when all have. If one did not complete, the task
 * ends as cancelled, unless it was submitted with `afterFailed: 'run'`.
 *
 * @returns the same task if it did not wait for any of them
 */
export function unblock(task: Task, ended: readonly EndedAwaited[], stamp: Stamp): Task {
  const after = task.after ?? [];
  const isOver = (each: Awaited) => ended.some((other) => isSame(each, other));
  const rest = after.filter((each) => !isOver(each));
  if (task.state !== 'blocked' || rest.length === after.length) return task;
  const failed = ended.find((each) => each.outcome !== 'completed' && after.some((other) => isSame(each, other)));
  const written = { ...task, born: bornOf(task), nonce: stamp.nonce };
  if (failed && !task.afterFailed) return end({ ...written, error: faultOfAwaited(failed, stamp) }, 'cancelled', stamp);
  return rest.length > 0 ? { ...written, after: rest } : unblocked(written, stamp);
}

/** A blocked task that waits for its time only, or for a node. */
export function unblocked(task: Task, stamp: Stamp): Task {
  const { now, nonce } = stamp;
  if (task.cancel) return end({ ...task, born: bornOf(task) }, 'cancelled', stamp);
  const { state, at } = ready(task.runAt, now);
  return { ...task, after: undefined, afterFailed: undefined, runAt: undefined, born: bornOf(task), nonce, state, at };
}

/** A blocked task after a look of the sweep. The pauses grow, so a task that waits for long costs next to nothing. */
export function lookedAt(task: Task, { now, nonce }: Stamp): Task {
  const pause = Math.min(LOOKS.longest, Math.max(LOOKS.shortest, now - task.submittedAt));
  return { ...task, born: bornOf(task), at: now + pause, nonce };
}

/** A task that has not ended, and whose end another one waits for. */
export function withDependent(task: Task, dependent: string, nonce: string): Task {
  return { ...task, born: bornOf(task), dependents: [...(task.dependents ?? []), dependent], nonce };
}

function isSame(one: Awaited, other: Awaited): boolean {
  return one.id === other.id && one.life === other.life;
}

function faultOfAwaited({ id, outcome }: EndedAwaited, { now }: Stamp): TaskFault {
  return { name: 'AwaitedTaskFailedError', message: `it was to run after ${id}, which ended as ${outcome}`, at: now };
}

/** The taker of a task. */
export interface Claimant {
  /** Instance. */
  readonly owner: string;
  /** ms */
  readonly lease: number;
  /** Limits that the task has from now on. */
  readonly limits?: TaskLimits | undefined;
}

export function claim(task: Task, { owner, lease, limits = task.limits }: Claimant, { now, nonce }: Stamp): Task {
  const former = { progress: undefined, formerEnd: undefined, lastProgram: undefined };
  const token = nextToken(task.token, now);
  const next = { isPutOff: undefined, born: bornOf(task), at: now + lease, lease, owner, limits, token, nonce };
  return { ...task, ...former, ...next, state: 'claimed' };
}

/** Never shortens the lease. */
export function renew(task: Task, lease: number, { now, nonce }: Stamp): Task {
  const at = Math.max(task.at, now + lease);
  return { ...task, at, lease: at > task.at ? lease : Math.max(task.lease ?? USUAL_LEASE, lease), nonce };
}

/** The node does not work on it after all: it shuts down. */
export function giveBack(task: Task, stamp: Stamp): Task {
  if (task.cancel) return end(task, 'cancelled', stamp);
  return { ...task, ...withoutClaim(task), state: 'waiting', at: stamp.now, nonce: stamp.nonce };
}

/** It is about to have sub-tasks. So each node knows, when it ends, that they must end first. */
export function split(task: Task, { nonce }: Stamp): Task {
  return { ...task, split: task.token, nonce };
}

/** A wish to cancel that was noted before wins: `cancel()` has answered that a result is refused. */
export function end(task: Task, wanted: Outcome, { now, nonce }: Stamp, given?: unknown): Task {
  const [outcome, result] = task.cancel ? (['cancelled', undefined] as const) : [wanted, given];
  const ending: Ending = { outcome, at: now, by: nonce, result };
  const error = outcome === 'completed' ? undefined : task.error;
  const ended: Task = {
    ...task,
    ...WITHOUT_WAITS,
    ...withoutClaim(task),
    error,
    state: 'done',
    at: now,
    nonce,
    ending,
  };
  if (task.split !== undefined) return { ...ended, state: 'awaiting' };
  const isWatched = isInGroup(task) || task.dependents || task.queue !== undefined || task.next;
  return isWatched ? ended : finish(ended, { now, nonce });
}

/** All sub-tasks of a task whose handler has ended have ended, too. */
export function subTasksEnded(task: Task, subTasks: GroupCounts, { now, nonce }: Stamp): Task {
  return { ...task, state: 'done', at: now, nonce, ending: { ...task.ending!, subTasks } };
}

/** A sub-task that an attempt announced and did not submit, and that no later attempt submitted. It ends before it begins. */
export function skip(submission: Submission, former: Task | undefined, stamp: Stamp): Task {
  const message = 'its parent has ended, and its last attempt did not submit this sub-task';
  const error = { name: 'NotSubmittedError', message, at: stamp.now };
  return end({ ...submit(submission, former, stamp), error }, 'cancelled', stamp);
}

/** Makes the first state of a task. */
export type FirstState = typeof submit;

/** The task of a group without members. It has ended, and has nothing to run. */
function withoutRun(submission: Submission, former: Task | undefined, stamp: Stamp): Task {
  return end(submit(submission, former, stamp), 'completed', stamp);
}

/** How a member of a group begins. If its group is stopped, it ends before it begins. */
export function firstState({ number }: Pick<Member, 'number'>, stopped: Cancellation | undefined): FirstState {
  if (number === 0) return withoutRun;
  if (!stopped) return submit;
  return (submission, former, stamp) => {
    return end({ ...submit(submission, former, stamp), cancel: stopped }, 'cancelled', stamp);
  };
}

/**
 * An attempt ended with an error.
 *
 * @param chance 0 to 1
 */
export function fail(task: Task, error: TaskFault, stamp: Stamp, chance: number): Task {
  const past = pastOf(task, stamp.now, faultText(error).slice(0, LONGEST_PAST));
  const failed = { ...task, error, past, attempts: task.attempts + 1 };
  const { maxAttempts, backoff } = task.limits;
  if (failed.attempts >= maxAttempts) return end(failed, 'failed', stamp);
  return delay(failed, stamp.now + pauseAfter(task.attempts, chance, { ...backoff, jitter: 0.5 }), stamp);
}

/** The handler wants another attempt later, which is no failure. */
export function retryAt(task: Task, at: number, stamp: Stamp): Task {
  return delay({ ...task, isPutOff: true }, at, stamp);
}

function delay(task: Task, at: number, stamp: Stamp): Task {
  if (task.cancel) return end(task, 'cancelled', stamp);
  return { ...task, ...withoutClaim(task), state: 'delayed', at: Math.ceil(at), nonce: stamp.nonce };
}

/** The lease ended without a word of its node. */
export function expire(task: Task, stamp: Stamp): Task {
  const crashed = { ...task, past: pastOf(task, stamp.now), crashes: task.crashes + 1 };
  return crashed.crashes >= task.limits.maxCrashes ? end(crashed, 'crashed', stamp) : giveBack(crashed, stamp);
}

function pastOf({ past = [], token, owner }: Task, endedAt: number, error?: string): PastAttempt[] {
  const latest = { token, endedAt, instance: instanceIn(owner ?? ''), ...(error !== undefined && { error }) };
  return [...past, latest].slice(-MOST_PAST);
}

/** Its group, its parent and its dependents know that it has ended. */
export function finish(task: Task, { now, nonce }: Stamp): Task {
  const { retention, deadLetterRetention } = task.limits;
  const kept = task.ending?.outcome === 'completed' ? retention : deadLetterRetention;
  return { ...task, dependents: undefined, state: 'finished', at: now + kept, nonce };
}

/** It does not begin anew when it has ended. */
export function withoutNext(task: Task, { nonce }: Stamp): Task {
  return { ...task, next: undefined, born: bornOf(task), nonce };
}

/** Its next life is cancelled as well. @param task one that has not ended */
export function cancel(task: Task, author: Omit<Cancellation, 'at'>, stamp: Stamp): Task {
  const wish = { cancel: task.cancel ?? { at: stamp.now, ...author }, next: undefined };
  const cancelled: Task = { ...task, ...wish, born: bornOf(task), nonce: stamp.nonce };
  // In a queue the next task must not begin before those in front of this one have ended.
  const hasToWait =
    (task.state === 'claimed' && !isOfProgram(task)) || (task.state === 'blocked' && task.queue !== undefined);
  return hasToWait ? cancelled : end(cancelled, 'cancelled', stamp);
}

/** The next attempt by hand, before its time. Both counts begin anew. */
export function hurry(task: Task, stamp: Stamp): Task {
  return { ...hint(task, stamp), attempts: 0, crashes: 0 };
}

/**
 * Another life by hand, in which both counts begin anew, and its sub-tasks are new ones. A group that the task was in must be over: it can't count the
 * task again.
 */
export function requeue(task: Task, { now, nonce }: Stamp): Task {
  const { member, join } = task;
  const former = { ending: undefined, cancel: undefined, born: undefined, replacedBy: undefined, split: undefined };
  const next: Task = {
    ...task,
    ...former,
    ...formerOf(task),
    member: member && over(member),
    join: join && over(join),
    state: 'waiting',
    at: now,
    attempts: 0,
    crashes: 0,
    nonce,
  };
  return task.queue === undefined ? next : enqueued(next, now);
}

/** The fields of a new life that tell of the one before. */
function formerOf(task: Task) {
  const { ending, token, formerFamily, formerEnd, lastProgram } = task;
  const { by, outcome = 'completed' } = ending ?? {};
  return {
    formerFamily: familyIn(task) ?? formerFamily,
    formerEnd: by === undefined ? formerEnd : { by, token, outcome },
    lastProgram,
    formerFailure: outcome === 'completed' ? undefined : { life: bornOf(task), outcome },
  };
}

function over<Of extends Incarnation>(of: Of): Of {
  return { ...of, isOver: true };
}

/** The fields of a claim are left out, but the program that had it: it may repeat the call that ended its attempt. */
function withoutClaim({ owner, lastProgram }: Task): Pick<Task, 'owner' | 'lease' | 'lastProgram'> {
  return { owner: undefined, lease: undefined, lastProgram: owner === undefined ? lastProgram : programIn(owner) };
}

function programIn(owner: string): string | undefined {
  const instance = instanceIn(owner);
  return isProgram(instance) ? instance : undefined;
}

/** Whether a program has the task. It may have crashed, or may not want to end its work. */
export function isOfProgram({ state, owner }: Task): boolean {
  return state === 'claimed' && programIn(owner!) !== undefined;
}

/** Nonce of the submission. */
export function bornOf({ born, nonce }: Task): string {
  return born ?? nonce;
}

/** Whether its group, or its parent, must learn that the task has ended. */
export function isInGroup({ member, join, sub }: Pick<Task, 'member' | 'join' | 'sub'>): boolean {
  const of = member ?? join;
  return of ? !of.isOver : sub !== undefined;
}

export function hasEnded({ state }: Task): boolean {
  return state === 'done' || state === 'finished';
}
