import { type EndedAwaited, bornOf } from './transitions.js';
import type { Awaited, Incarnation, Member, SubTask, Task } from './task.js';
import { familyOf } from './sub-name.js';
import { groupType } from './task-id.js';

/** A group's incarnation, with the type that the group counts. */
interface GroupOf {
  readonly type: string;
  readonly group: Incarnation;
}

/**
 * A step that must follow after a text of a task was written. All steps follow from the text alone, so any node can take
 * them, also after a crash: {@link effectsOf} is used right after a write, and by the sweep. Each step is idempotent.
 */
export type Effect =
  /** A task has no place in its serial queue yet. */
  | { readonly do: 'placeInQueue'; readonly queue: string; readonly own: Awaited }
  /** A task is blocked: have the others ended for which it waits? */
  | { readonly do: 'lookAtAwaited' }
  /** The handler has ended, and sub-tasks have not: what was announced and not submitted is skipped. */
  | { readonly do: 'countSubTasks' }
  /** No sub-task is added any more to this life. */
  | { readonly do: 'closeFamily'; readonly family: Incarnation }
  /** The group's handler has run. */
  | ({ readonly do: 'closeGroup' } & GroupOf)
  /** The rest of the group ends, if the member wants that. */
  | { readonly do: 'stopGroup' }
  | ({ readonly do: 'tellDependentsOfGroup' } & GroupOf)
  | { readonly do: 'tellDependents'; readonly ended: EndedAwaited; readonly dependents: readonly string[] }
  | { readonly do: 'leaveQueue'; readonly queue: string; readonly own: Awaited }
  /** The group counts the end. Its last member submits the task of the group's handler: the join. */
  | { readonly do: 'markMember'; readonly member: Member; readonly hasFailed: boolean }
  /** The parent counts the end. The last sub-task ends the parent. */
  | { readonly do: 'releaseParent'; readonly sub: SubTask; readonly hasFailed: boolean }
  /** Nothing is left to do for the task, or its next life begins. */
  | { readonly do: 'finish' };

/**
 * The effects of a task's state, in the order in which they must be carried out.
 *
 *     waiting ─▶ none: its hint goes with the write (see hintOfWrite)
 *     blocked ─▶ placeInQueue, or lookAtAwaited           awaiting ─▶ countSubTasks
 *     done ─▶ closeFamily ─▶ closeGroup ─▶ stopGroup ─▶ tellDependentsOfGroup ─▶ tellDependents ─▶ leaveQueue
 *             ─▶ markMember, or releaseParent ─▶ finish
 *     delayed, claimed, finished ─▶ none
 *
 * | first                 | then                  | because otherwise                                                        |
 * | --------------------- | --------------------- | ------------------------------------------------------------------------ |
 * | closeFamily           | all others            | others learn of the end, and a late write still adds a sub-task to it    |
 * | closeGroup            | tellDependentsOfGroup | a dependent is added after the others were told: only a closed group has all of them |
 * | closeGroup            | markMember, releaseParent | the parent ends, and its group of sub-tasks can still be joined      |
 * | stopGroup             | markMember            | a crash between the two: the group ends as if it had not failed fast     |
 * | tellDependents        | leaveQueue            | the tail of the queue is gone, and the next task in it still waits       |
 * | tellDependents, leaveQueue | markMember       | the join runs, and what waits for a member does not begin               |
 * | all others            | finish                | a crash before them: the text says that nothing is left to do            |
 *
 * When the last sub-task of a group ends, whose parent is in a serial queue, these steps are one chain. A node that dies behind
 * any write leaves a text from which the sweep takes the rest:
 *
 *     writes                                                              text left behind, and its next step
 *     sub-task done ─▶ bits of the group ─▶ root of the group ─▶ join      sub-task `done`: markMember
 *     sub-task finished                                                    join `waiting`, with its hint
 *     join claimed ─▶ join done                                            join `claimed`: its lease ends
 *     root of the group (closed) ─▶ bits and root of the family            join `done`: closeGroup, releaseParent
 *     parent done ─▶ root of the family (closed) ─▶ next task waiting      parent `done`: closeFamily, tellDependents
 *
 * `test/tasks/end-in-order.spec.ts` loses the node behind each of these writes.
 */
export function effectsOf(task: Task): Effect[] {
  const { state, queue } = task;
  if (state === 'awaiting') return [{ do: 'countSubTasks' }];
  if (state === 'blocked')
    return isUnplaced(task) ? [{ do: 'placeInQueue', queue: queue!, own: lifeOf(task) }] : [{ do: 'lookAtAwaited' }];
  return state === 'done' ? effectsOfEnd(task) : [];
}

/** The effects of the end of a task, also of one that is finished. */
export function effectsOfEnd(task: Task): Effect[] {
  const { id, type, split, join, member, sub, dependents, queue, ending } = task;
  const own = lifeOf(task);
  const hasFailed = ending?.outcome !== 'completed';
  const joined = join && { type: groupType(type), group: join };
  const effects: (Effect | false | undefined)[] = [
    split !== undefined && { do: 'closeFamily', family: familyOf(id, split) },
    joined && { do: 'closeGroup', ...joined },
    member && hasFailed && { do: 'stopGroup' },
    joined && { do: 'tellDependentsOfGroup', ...joined },
    dependents && ending && { do: 'tellDependents', ended: { ...own, outcome: ending.outcome }, dependents },
    queue !== undefined && { do: 'leaveQueue', queue, own },
    // A member of a group of sub-tasks is counted by that group, and its join by the parent.
    member ? { do: 'markMember', member, hasFailed } : sub && { do: 'releaseParent', sub, hasFailed },
    { do: 'finish' },
  ];
  return effects.filter((effect) => effect !== undefined && effect !== false);
}

function lifeOf(task: Task): Awaited {
  return { id: task.id, life: bornOf(task) };
}

/** Whether a task of a queue has no place in it yet. */
export function isUnplaced({ state, queue, after }: Task): boolean {
  return state === 'blocked' && queue !== undefined && after === undefined;
}
