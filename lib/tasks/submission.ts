import type { Task } from './task.js';
import { type Submission, hasEnded } from './transitions.js';

/** When the same id counts as known: while the task has not ended, or as long as it is remembered. */
export type Dedup = 'unfinished' | 'retained';

/**
 * Whether a submission begins anew although there is a task of its id.
 *
 * | the task there  | no group, `unfinished` | no group, `retained` | same incarnation of its group | earlier incarnation       |
 * | --------------- | ---------------------- | -------------------- | ----------------------------- | ------------------------- |
 * | has not ended   | no                     | no                   | no                            | only a group's handler: a late write brought the former one back |
 * | `done`          |                        |                      | no                            | yes: that group is closed, or lost |
 * | `finished`      | yes                    | no                   | no                            | yes                       |
 */
export function mayFollow(submission: Pick<Submission, 'member' | 'join'>, former: Task, dedup: Dedup): boolean {
  const [next, last] = [incarnationOf(submission), incarnationOf(former)];
  const isLater = next !== undefined && last !== undefined && last < next;
  if (!hasEnded(former)) return isLater && submission.join !== undefined;
  if (next !== undefined && last !== undefined) return isLater;
  return former.state === 'finished' && dedup === 'unfinished';
}

/** Why a submission changes nothing, in a sentence. */
export function knownBecause({ state, ending }: Task): string {
  if (state === 'claimed') return 'a node works on it now';
  if (state === 'waiting') return 'it waits for a node';
  if (state === 'delayed') return 'it waits for its time';
  return `it has ended (${ending?.outcome}), and is still remembered`;
}

function incarnationOf({ member, join }: Pick<Submission, 'member' | 'join'>): number | undefined {
  return (member ?? join)?.incarnation;
}
