import type { Slices } from '../../core/async/slices.js';
import type { TaskDependencies } from './task-dependencies.js';
import type { TextCells } from '../../core/cell/text-cells.js';
import { isWithoutMembers } from '../rules/group.js';
import type { Groups } from './groups/groups.js';
import type { GroupStops } from './group-stops.js';
import type { Submitted } from '../rules/answers.js';
import type { Joining } from '../rules/submission.js';
import { type Effect, effectsOf, effectsOfEnd } from '../rules/effects.js';
import type { Dedup } from '../rules/submit-options.js';
import type { Parents } from './parents.js';
import { FAMILY } from '../rules/sub-name.js';
import { type Incarnation, type Task, USUAL_LIMITS } from '../rules/task.js';
import { groupId, groupType, joinId, joinType } from '../rules/task-id.js';
import { type Stamp, type Submission, hasEnded } from '../rules/transitions.js';
import { encodeTask } from '../rules/task.codec.js';
import { finishedOrBegun } from '../rules/unique.js';

/** No sub-task is known to be in the store. */
const NONE: ReadonlySet<string> = new Set();

/** The part of the store of tasks that the steps after an end need. */
interface SettlingStore {
  readonly texts: TextCells;
  readonly groups: Groups;
  readonly parents: Parents;
  readonly stops: GroupStops;
  readonly awaiting: TaskDependencies;
  readonly slices: Pick<Slices, 'turn'>;
  stamp(): Promise<Stamp>;
  create(submission: Submission, dedup: Dedup): Promise<Submitted>;
}

/** The steps after the end of a task. Any node may take them again, after an error or a crash. */
export class Settling {
  constructor(private readonly store: SettlingStore) {}

  /**
   * Carries out the effects of a task that was written, in their order: see {@link effectsOf}. Idempotent.
   *
   * @param confirmed ids of its sub-tasks that are surely in the store
   */
  async settle(task: Task, text: string, confirmed = NONE): Promise<void> {
    for (const effect of effectsOf(task)) await this.#carryOut(effect, task, text, confirmed);
  }

  /** The effects for all that wait for the end of a task, also of one that is finished: a late write may have made them again. */
  async tellEndOf(task: Task, text: string): Promise<void> {
    if (!hasEnded(task)) return;
    for (const effect of effectsOfEnd(task)) {
      if (effect.do === 'tellDependents' || effect.do === 'leaveQueue') await this.#carryOut(effect, task, text, NONE);
    }
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

  async #carryOut(effect: Effect, task: Task, text: string, confirmed: ReadonlySet<string>): Promise<unknown> {
    const { groups, parents, stops, awaiting } = this.store;
    switch (effect.do) {
      case 'placeInQueue':
        return awaiting.queues.place(effect.queue, effect.own);
      case 'lookAtAwaited':
        return awaiting.look(task, text);
      case 'countSubTasks':
        return parents.endAfterSubTasks(task, text, confirmed);
      case 'closeFamily':
        return groups.close(FAMILY, effect.family);
      case 'closeGroup':
        return (await groups.close(effect.type, effect.group)) && stops.forget(effect.type, effect.group);
      case 'stopGroup':
        return stops.memberFailed(task);
      case 'tellDependentsOfGroup':
        return awaiting.tellEndOfGroup(groupId(effect.type, effect.group.group));
      case 'tellDependents':
        return awaiting.tell(effect.ended, effect.dependents);
      case 'leaveQueue':
        return awaiting.queues.leave(effect.queue, effect.own);
      case 'markMember': {
        const { member, hasFailed } = effect;
        return (await groups.ended(task.type, member, hasFailed)) && this.#join(task.type, member, task);
      }
      case 'releaseParent':
        return parents.ended(effect.sub, effect.hasFailed);
      case 'finish':
        return this.#finish(task, text);
    }
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

  /** The last step after the end of a task. If the sweep has taken it meanwhile, there is nothing to do. */
  async #finish(task: Task, text: string): Promise<void> {
    const { parents, slices, texts } = this.store;
    if (task.next) await parents.removeFamily(task);
    // Members of a group come here at the same time: they share the note of their ends.
    const turn = slices.turn(text.length);
    if (turn) await turn;
    const next = finishedOrBegun(task, await this.store.stamp());
    const nextText = encodeTask(next);
    const { isWritten } = await texts.write(task.id, text, nextText);
    if (isWritten) await this.settle(next, nextText);
  }
}
