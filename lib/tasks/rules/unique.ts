import { leadsTo, placeOf } from './task-place.js';
import type { NextLife, Task } from './task.js';
import { type Stamp, type Submission, bornOf, finish, submit } from './transitions.js';
import type { Unique } from './submit-options.js';

/** A change of the task that a unique submission found. */
export interface Resolved {
  readonly task: Task;
  readonly outcome: 'created' | 'replaced';
  readonly because: string;
}

/**
 * The effect of a unique submission on an unfinished task of its id.
 *
 * | the task there                     | `waiting`, keep      | `waiting`, replace | `unfinished`, keep | `unfinished`, replace         |
 * | ---------------------------------- | -------------------- | ------------------ | ------------------ | ----------------------------- |
 * | waits                              | stays                | is replaced        | stays              | is replaced                   |
 * | runs, or its sub-tasks             | runs again after it  | runs again after it | stays             | is cancelled, runs again after it |
 * | runs, and is to run again after it | stays                | the next life is replaced | stays       | the same                      |
 *
 * @returns undefined if it stays
 */
export function resolve(task: Task, submission: Submission, unique: Unique, stamp: Stamp): Resolved | undefined {
  const { during, onConflict } = unique;
  // A former attempt may have left sub-tasks, which must end first.
  const hasBegun = !['waiting', 'delayed', 'blocked'].includes(task.state) || task.split !== undefined;
  // A task of a queue has its place there.
  if (task.queue !== undefined) return undefined;
  if (onConflict === 'keep' && (during === 'unfinished' || !hasBegun || task.next)) return undefined;
  if (!hasBegun) {
    const made = submit(submission, task, stamp);
    const replaced = { ...made, ...hintOfFormer(task, made), ...waitFor(task, submission), ...waitedFor(task, stamp) };
    return { task: replaced, outcome: 'replaced', because: 'it had not begun' };
  }
  const isCancelled = during === 'unfinished' && task.state === 'claimed' && !task.cancel;
  const changed: Task = {
    ...task,
    next: nextLife(submission, stamp),
    nonce: stamp.nonce,
    ...(isCancelled && { cancel: { at: stamp.now, by: 'a newer submission' } }),
  };
  if (task.next) return { task: changed, outcome: 'replaced', because: 'it was to run again, and had not begun' };
  return { task: changed, outcome: 'created', because: 'it runs now, and runs again when it has ended' };
}

/** Nothing is left to do for a task that has ended, but to begin its next life. */
export function finishedOrBegun(task: Task, stamp: Stamp): Task {
  if (!task.next) return finish(task, stamp);
  const { by, ...given } = task.next;
  return { ...submit({ id: task.id, type: task.type, ...given }, task, stamp), born: by };
}

/** Whether a submission with this nonce made the task as it is now, or its next life. */
export function isFrom(task: Task, by: string): boolean {
  return bornOf(task) === by || task.replacedBy === by || task.next?.by === by;
}

/** The former hint leads to the new task, too, so it is the last one. */
function hintOfFormer(former: Task, made: Task): Partial<Task> {
  return leadsTo(placeOf(former), placeOf(made)) ? { at: former.at } : {};
}

/** A task that waits for others goes on to do so, and then for the time of the new submission. */
function waitFor({ state, at, after, afterFailed }: Task, { runAt }: Submission): Partial<Task> {
  if (state !== 'blocked') return {};
  return {
    state,
    at,
    ...(after && { after }),
    ...(afterFailed && { afterFailed }),
    ...(runAt !== undefined && { runAt }),
  };
}

/** Tasks that wait for its end know it by the nonce of its first submission. */
function waitedFor(task: Task, { nonce }: Stamp): Partial<Task> {
  return task.dependents ? { dependents: task.dependents, born: bornOf(task), replacedBy: nonce } : {};
}

function nextLife({ priority, limits, data, runAt, to, fairKey, trace }: Submission, { nonce }: Stamp): NextLife {
  return {
    by: nonce,
    priority,
    limits,
    ...(data !== undefined && { data }),
    ...(runAt !== undefined && { runAt }),
    ...(to && { to }),
    ...(fairKey !== undefined && { fairKey }),
    ...(trace !== undefined && { trace }),
  };
}
