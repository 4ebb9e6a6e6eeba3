import type { Slices } from '../core/async/slices.js';
import type { Awaiting } from './after/awaiting.js';
import type { TextCells } from '../core/cell/text-cells.js';
import { isWithoutMembers } from './groups/group.js';
import type { Groups } from './groups/groups.js';
import type { Hints } from './hints.js';
import type { GroupStops } from './stops/group-stops.js';
import type { Joining, Submitted } from './submission.js';
import type { Dedup } from './submit-options.js';
import type { Parents } from './subtasks/parents.js';
import { FAMILY, familyOf } from './subtasks/sub-name.js';
import { type Incarnation, type Task, USUAL_LIMITS } from './task.js';
import { groupId, groupType, joinId, joinType } from './task-id.js';
import type { Stamp, Submission } from './transitions.js';
import { encodeTask } from './task.codec.js';
import { finishedOrBegun } from './unique/unique.js';

/** The part of the store of tasks that the steps after an end need. */
interface SettlingStore {
  readonly texts: TextCells;
  readonly groups: Groups;
  readonly hints: Hints;
  readonly parents: Parents;
  readonly stops: GroupStops;
  readonly awaiting: Awaiting;
  readonly slices: Pick<Slices, 'turn'>;
  stamp(): Promise<Stamp>;
  create(submission: Submission, dedup: Dedup): Promise<Submitted>;
}

/** The steps after the end of a task. Any node may take them again, after an error or a crash. */
export class Settling {
  constructor(private readonly store: SettlingStore) {}

  /**
   * Tells all that wait for the end of a task: marks the member in its group, submits the task of the group's handler if it
   * was the last one, and finishes. A task with sub-tasks waits for them first.
   *
   * @param confirmed ids of its sub-tasks that are surely in the store
   */
  async settle(task: Task, text: string, confirmed: ReadonlySet<string> = new Set()): Promise<void> {
    const { groups, parents, stops, awaiting } = this.store;
    if (task.state === 'awaiting') return parents.settle(task, text, confirmed);
    if (task.state === 'blocked') return awaiting.settle(task, text);
    if (task.state !== 'done') return;
    const { type, member, join, sub, split, ending } = task;
    const hasFailed = ending?.outcome !== 'completed';
    if (split !== undefined) await groups.close(FAMILY, familyOf(task.id, split));
    if (join && (await groups.close(groupType(type), join))) await stops.forget(groupType(type), join);
    if (member && hasFailed) await stops.memberFailed(task);
    if (join) await awaiting.tellEndOfGroup(groupId(groupType(type), join.group));
    await awaiting.tellEndOf(task);
    if (member && (await groups.ended(type, member, hasFailed))) await this.#join(type, member, task);
    if (sub && !member) await parents.ended(sub, hasFailed);
    await finishTask(this.store, task, text);
  }

  /** Submits the task of a group's handler if all members have ended, and that was not done yet. */
  async joinIfEnded(type: string, member: Incarnation, task: Joining): Promise<void> {
    if (await this.store.groups.haveEnded(type, member)) await this.#join(type, member, task);
  }

  /**
   * Ends a group that the end of no member will end, because it is known to have none, or was abandoned. A crash may have
   * come after the first write of its submission.
   *
   * @returns whether it was abandoned, and is closed now
   */
  async endMemberless(id: string): Promise<boolean> {
    const { groups } = this.store;
    const found = await groups.abandoned.look(id);
    if (!found || !isWithoutMembers(found)) return found?.state === 'closed';
    const { type, group, incarnation } = found;
    await this.joinIfEnded(type, { group: group.slice(type.length + 1, -1), incarnation }, { limits: USUAL_LIMITS });
    return false;
  }

  /** Whether a task of a group's handler must not run: the group is closed, or its root is gone. */
  async isStaleJoin({ join, type }: Task): Promise<boolean> {
    return join !== undefined && !join.isOver && !(await this.store.groups.isJoining(groupType(type), join));
  }

  /**
   * Submits the task of a group's handler. It gets the limits of the handler when it is claimed; one
   * that is cancelled before is remembered as long as a member. It has a fixed id, so it is one
   * task for all nodes.
   */
  async #join(type: string, { group, incarnation }: Incarnation, { limits, sub }: Joining): Promise<void> {
    const join = { group, incarnation };
    const [id, place] = [joinId(type, group), { join, ...(sub && { sub }) }];
    await this.store.create({ id, type: joinType(type), priority: 'high', limits, ...place }, 'unfinished');
  }
}

interface Records {
  readonly texts: TextCells;
  readonly parents: Pick<Parents, 'removeFamily'>;
  readonly hints: Pick<Hints, 'offer'>;
  readonly slices: Pick<Slices, 'turn'>;
  stamp(): Promise<Stamp>;
}

/** The last step after the end of a task. If the sweep has taken it meanwhile, there is nothing to do. */
async function finishTask(store: Records, task: Task, text: string): Promise<void> {
  if (task.next) await store.parents.removeFamily(task);
  // Members of a group come here at the same time: they share the note of their ends.
  const turn = store.slices.turn(text.length);
  if (turn) await turn;
  const next = finishedOrBegun(task, await store.stamp());
  const nextText = encodeTask(next);
  const { isWritten } = await store.texts.write(task.id, text, nextText);
  if (isWritten && next.state === 'waiting') await store.hints.offer(next, nextText);
}
