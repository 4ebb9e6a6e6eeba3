import { afterWrite } from '../../core/store/after-write.js';
import type { GroupCancelled, Released, Retried } from '../rules/answers.js';
import { groupType, isTaskId, type TaskType, groupId, typeFaults, typeOf } from '../rules/task-id.js';
import { FAMILY, familyOf } from '../rules/sub-name.js';
import type { Task } from '../rules/task.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import * as transitions from '../rules/transitions.js';
import { type Stamp, bornOf } from '../rules/transitions.js';
import { type TaskRecords, UNKNOWN, type CancelOptions, parseCancelOptions } from '../records/cancel.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';
import { InvalidOptionsError, show } from '../../core/decision/index.js';
import type { TaskStore } from '../records/task-store.js';

/** A change that is allowed, or the reason why none is. */
type Verdict =
  { readonly change: (task: Task, stamp: Stamp) => Task; readonly because: string } | { readonly refused: string };

/**
 * Lets a task run again by hand.
 *
 * | the task                                 | it                                              |
 * | ---------------------------------------- | ----------------------------------------------- |
 * | ended without success, in no group       | runs again                                      |
 * | the same, in a group that is over        | runs again; the group does not count it again   |
 * | the same, in a group that is not over    | stays: the group counts it as failed already    |
 * | a group's handler, and it is remembered  | runs again for the members as they are now      |
 * | waits for its next attempt after a failure | runs at once                                  |
 * | a sub-task whose parent has not ended    | stays: the parent counts it as failed already   |
 * | completed, or has not ended              | stays                                           |
 * | was cancelled, because one that it was to run after failed | runs at once: the others are not looked at again |
 *
 * A group that is over stays so. So a look at its root before the write is enough, although another node may begin a new
 * incarnation between the two.
 *
 * @throws UnknownOutcomeError if it may run again: ask `explain()`
 * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
 */
export async function retryTask(id: string, store: TaskRecords): Promise<Retried> {
  const born = new Set<string>();
  let isHurried = false;
  const unknown: Retried = { id, outcome: 'unknown', because: UNKNOWN };
  if (!isTaskId(id)) return unknown;
  return store.texts.change<Retried>(id, async (text) => {
    if (text === undefined) return { result: unknown };
    const found = decodeTask(text);
    // A node may have gone on from a write whose answer was lost.
    if (born.has(bornOf(found)) || (isHurried && found.attempts + found.crashes === 0))
      return { result: { id, outcome: 'retried', because: 'it runs again' } };
    const verdict = await verdictOn(found, store);
    if ('refused' in verdict) return { result: { id, outcome: 'refused', because: verdict.refused } };
    const stamp = await store.stamp();
    born.add(stamp.nonce);
    isHurried = verdict.change === transitions.hurry;
    const task = verdict.change(found, stamp);
    const write = encodeTask(task);
    const done = async (): Promise<Retried> => {
      await afterWrite(() => store.settle(task, write));
      return { id, outcome: 'retried', because: verdict.because };
    };
    return { write, done };
  });
}

async function verdictOn(task: Task, store: TaskRecords): Promise<Verdict> {
  const { state, error, isPutOff, ending } = task;
  if (state === 'delayed' && error && !isPutOff) {
    return { change: transitions.hurry, because: 'it waited for its next attempt after a failure' };
  }
  if (!ending || state === 'awaiting') return { refused: `it has not ended: ${UNFINISHED[state] ?? 'it waits'}` };
  if (ending.outcome === 'completed') return { refused: 'it completed: submit it again to do it again' };
  const fault = await groupFault(task, store);
  if (fault !== undefined) return { refused: fault };
  // The next life has sub-tasks of its own.
  await store.parents.removeFamily(task);
  return { change: transitions.requeue, because: `it had ended (${ending.outcome})` };
}

const UNFINISHED: Partial<Record<Task['state'], string>> = {
  claimed: 'a node works on it now',
  waiting: 'it waits for a node',
  delayed: 'it waits for its time',
  blocked: 'it waits for the end of others',
  awaiting: 'its sub-tasks have not ended',
};

/** Why its group does not let the task run again. */
async function groupFault(
  { type, member, join, sub, state, split, dependents, queue }: Task,
  { groups }: TaskRecords,
): Promise<string | undefined> {
  if (member && !(await groups.isOver(type, member))) {
    return 'its group is not over and counts it as failed: retry it when the handler of the group has run';
  }
  if (sub && !(await groups.isOver(FAMILY, familyOf(sub.parent, sub.incarnation)))) {
    return 'its parent has not ended and counts it as failed: retry the parent, or wait for its end';
  }
  // The group that a handler has closed knows tasks that wait for its end.
  if ((split !== undefined || dependents || queue !== undefined || join) && state === 'done')
    return 'its end is not noted everywhere yet: retry it in a few seconds';
  if (!join) return undefined;
  const root = await groups.find(groupType(type), join);
  if (root?.state === 'closed') return undefined;
  if (root) return 'its group is not over yet: retry it in a few seconds';
  return 'its group is not remembered, or was submitted again: submit the members again';
}

/**
 * Ends the claim of a program by hand, as if the program had given the task back. The next call of the program is refused. A
 * task of a node stays: cancel it, and the signal of its handler aborts.
 *
 * @throws UnknownOutcomeError if it may be released: release it again
 * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
 */
export async function releaseTask(id: string, store: TaskRecords): Promise<Released> {
  const written = new Set<string>();
  const released: Released = { id, outcome: 'released', because: RELEASED };
  const unknown: Released = { id, outcome: 'unknown', because: UNKNOWN };
  if (!isTaskId(id)) return unknown;
  return store.texts.change<Released>(id, async (text) => {
    if (text === undefined) return { result: unknown };
    const found = decodeTask(text);
    if (written.has(found.nonce)) return { result: released };
    if (!transitions.isOfProgram(found))
      return { result: { id, outcome: 'refused', because: found.state === 'claimed' ? OF_NODE : NOT_CLAIMED } };
    const stamp = await store.stamp();
    written.add(stamp.nonce);
    const task = transitions.giveBack(found, stamp);
    const write = encodeTask(task);
    const done = async () => {
      await afterWrite(() => store.settle(task, write));
      return released;
    };
    return { write, done };
  });
}

const RELEASED = 'the next call of the program that had it is refused';
const OF_NODE = 'a node works on it, and no program: cancel it';
const NOT_CLAIMED = 'no program has it';

/** @throws InvalidOptionsError, StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError */
export async function cancelGroup(
  task: TaskType,
  group: string,
  options: CancelOptions | undefined,
  { groups, stops }: Pick<TaskStore, 'groups' | 'stops'>,
  node: Pick<NodeIdentity, 'acquirer'>,
): Promise<GroupCancelled> {
  const { type } = typeOf(task);
  const faults = typeFaults(type);
  if (typeof group !== 'string' || group === '') faults.push(`group: ${show(group)} is not a text`);
  if (faults.length > 0) throw new InvalidOptionsError('a group of tasks', faults);
  const id = groupId(type, group);
  const author = parseCancelOptions(id, options, node);
  const root = await groups.latest(type, group);
  if (!root) return { id, outcome: 'unknown', because: 'no such group is in the store: it has no members, or is over' };
  if (root.state !== 'open') return { id, outcome: 'ended', because: ENDED };
  const stopped = await stops.stop(type, { group, incarnation: root.incarnation }, author, true);
  if (!stopped) return { id, outcome: 'ended', because: ENDED };
  return { id, outcome: 'cancelled', because: `all members that have not ended, end: cancelled by ${stopped.by}` };
}

const ENDED = 'all its members have ended';
