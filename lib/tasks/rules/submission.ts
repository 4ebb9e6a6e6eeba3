import type { Submitted } from './answers.js';
import type { Dedup } from './submit-options.js';
import type { Task } from './task.js';
import type { MemberName } from './task-id.js';
import { type Submission, hasEnded } from './transitions.js';

/** A submission before its group is opened. */
export type NewTask = Omit<Submission, 'member'> & { readonly member?: MemberName };

/** A task of its own is no member of a group. */
export function isAlone(task: NewTask): task is NewTask & { readonly member?: undefined } {
  return task.member === undefined;
}

/** Of a member, for the task of its group's handler. */
export type Joining = Pick<Submission, 'limits' | 'sub'>;

/**
 * Whether a submission begins anew although there is a task of its id. A sub-task counts as a member of a group.
 *
 * | the task there  | no group, `unfinished` | no group, `retained` | same incarnation of its group | earlier incarnation       |
 * | --------------- | ---------------------- | -------------------- | ----------------------------- | ------------------------- |
 * | has not ended   | no                     | no                   | no                            | only a group's handler: a late write brought the former one back |
 * | `done`          |                        |                      | no                            | yes: that group is closed, or lost |
 * | `finished`      | yes                    | no                   | no                            | yes                       |
 */
export function mayFollow(
  submission: Pick<Submission, 'member' | 'join' | 'sub'>,
  former: Task,
  dedup: Dedup,
): boolean {
  const [next, last] = [incarnationOf(submission), incarnationOf(former)];
  const isLater = next !== undefined && last !== undefined && last < next;
  if (!hasEnded(former)) return isLater && submission.join !== undefined;
  if (next !== undefined && last !== undefined) return isLater;
  return former.state === 'finished' && dedup === 'unfinished';
}

/** The answer to a submission that changes nothing. */
export function isKnown(task: Task): Submitted {
  return { id: task.id, outcome: 'known', because: knownBecause(task) };
}

/** Why a submission changes nothing, in a sentence. */
function knownBecause({ state, ending }: Task): string {
  if (state === 'claimed') return 'a node works on it now';
  if (state === 'waiting') return 'it waits for a node';
  if (state === 'delayed') return 'it waits for its time';
  if (state === 'blocked') return 'it waits for the end of others';
  if (state === 'awaiting') return 'its sub-tasks have not ended';
  return `it has ended (${ending?.outcome}), and is still remembered`;
}

function incarnationOf({ member, join, sub }: Pick<Submission, 'member' | 'join' | 'sub'>): number | undefined {
  return (member ?? join ?? sub)?.incarnation;
}
