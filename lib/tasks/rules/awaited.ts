import type { Awaited, Outcome, Task, TaskFault } from './task.js';
import { type Stamp, bornOf, end, ready } from './transitions.js';

/** ms between two looks at a task that is blocked: as long as it has been waiting, within these limits. */
const LOOKS = { shortest: 5000, longest: 3_600_000 };

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
  if (failed && !task.afterFailed) return end({ ...written, error: faultOf(failed, stamp) }, 'cancelled', stamp);
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

function faultOf({ id, outcome }: EndedAwaited, { now }: Stamp): TaskFault {
  return { name: 'AwaitedTaskFailedError', message: `it was to run after ${id}, which ended as ${outcome}`, at: now };
}
