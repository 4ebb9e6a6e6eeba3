import { NewerRecordError } from '../../core/decision/index.js';
import { isStoreError } from '../../core/store/index.js';
import type { GroupCounts, Incarnation, Task } from '../rules/task.js';
import { givenName } from '../rules/sub-name.js';
import { decodeTask } from '../rules/task.codec.js';
import { groupType, memberId } from '../rules/task-id.js';
import type { TaskStore } from '../records/task-store.js';
import { InvalidTaskError, RetryLaterError } from '../rules/tasks.errors.js';
import type { EndedMember, GroupContext, TaskContext } from './task-handler.js';

/** ms before the handler of a group that is over looks again at a member that runs again. */
const RETRY = 5000;
/** ms before a group is looked at again that this node could not read. */
const UNREAD = 1000;
/** Members on one page: each text may be as large as the largest result. */
const PAGE = 20;

/**
 * The context of a group's handler. The handler has not begun, so what this node can't read now counts as no failure of it.
 *
 * @returns undefined if the handler must not run: a write of its creation was applied late, after the group was closed
 * @throws RetryLaterError, InvalidTaskError, CorruptRecordError
 */
export async function readGroup(context: TaskContext, task: Task, store: TaskStore): Promise<GroupContext | undefined> {
  try {
    return (await store.settling.isStaleJoin(task)) ? undefined : await read(context, task, store);
  } catch (error) {
    // A node of a newer version can read what this one can't.
    throw isStoreError(error) || error instanceof NewerRecordError ? new RetryLaterError(UNREAD) : error;
  }
}

async function read(context: TaskContext, task: Task, store: TaskStore): Promise<GroupContext> {
  const type = groupType(task.type);
  const { group, isOver } = task.join!;
  const { total, failed } = isOver
    ? await recount(store, type, task.join!)
    : await store.groups.counts(type, task.join!);
  const { data: _none, member: _of, ...others } = context;
  return {
    ...others,
    type,
    group: givenName(group),
    total,
    failed,
    completed: total - failed,
    members: () => readMembers(store, type, task.join!, total),
  };
}

/**
 * The counts of a group that is over, and whose handler runs again by hand. Its members may have been tried again since,
 * so their records count. All are read first, so that the handler does not begin with members that are forgotten.
 *
 * @throws InvalidTaskError, RetryLaterError
 */
async function recount(store: TaskStore, type: string, join: Incarnation): Promise<GroupCounts> {
  const root = await store.groups.find(type, join);
  if (!root) throw new InvalidTaskError(`group ${join.group} was submitted again, or is no longer remembered`);
  const { total = 0 } = root;
  let failed = 0;
  for await (const { outcome } of readMembers(store, type, join, total)) if (outcome !== 'completed') failed++;
  return { total, failed };
}

async function* readMembers(
  store: TaskStore,
  type: string,
  { group, incarnation, isOver }: Incarnation,
  total: number,
): AsyncGenerator<EndedMember> {
  for (let first = 1; first <= total; first += PAGE) {
    const numbers = Array.from({ length: Math.min(PAGE, total - first + 1) }, (_, place) => first + place);
    const texts = await store.texts.readMany(numbers.map((number) => memberId(type, group, number)));
    for (const number of numbers) {
      await store.slices.turn();
      const id = memberId(type, group, number);
      const text = texts.get(id);
      const task = text === undefined ? undefined : decodeTask(text);
      if (isOver) expectRemembered(id, task, incarnation);
      // The store keeps it until the group is closed. So it was lost with data of the store.
      if (!task) throw new Error(`member ${id} of the group was lost with data of the store`);
      const { ending, error } = task;
      const { outcome = 'completed', result } = ending ?? {};
      yield { number, id, outcome, ...(result !== undefined && { result }), ...(error && { error }) };
    }
  }
}

function expectRemembered(id: string, task: Task | undefined, incarnation: number): void {
  if (task?.member?.incarnation !== incarnation) {
    throw new InvalidTaskError(`member ${id} is no longer remembered: submit the group again`);
  }
  // It was tried again by hand, too.
  if (!task.ending) throw new RetryLaterError(RETRY);
}
