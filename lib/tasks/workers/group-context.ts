import type { Task } from '../task.js';
import { decodeTask } from '../task.codec.js';
import { memberId } from '../task-id.js';
import { type TaskStore, groupType } from '../task-store.js';
import type { EndedMember, GroupContext, TaskContext } from './task-handler.js';

/** Members on one page: each text may be as large as the largest result. */
const PAGE = 20;

/** The context of a group's handler. @throws StoreUnavailableError, CorruptRecordError, NewerRecordError */
export async function readGroup(context: TaskContext, task: Task, store: TaskStore): Promise<GroupContext> {
  const type = groupType(task.type);
  const { group, incarnation } = task.join!;
  const { total, failed } = await store.groups.counts(type, { group, incarnation });
  const { data: _none, ...others } = context;
  return {
    ...others,
    type,
    group,
    total,
    failed,
    completed: total - failed,
    members: () => readMembers(store, type, group, total),
  };
}

async function* readMembers(store: TaskStore, type: string, group: string, total: number): AsyncGenerator<EndedMember> {
  for (let first = 1; first <= total; first += PAGE) {
    const numbers = Array.from({ length: Math.min(PAGE, total - first + 1) }, (_, place) => first + place);
    const texts = await store.texts.readMany(numbers.map((number) => memberId(type, group, number)));
    for (const number of numbers) {
      const id = memberId(type, group, number);
      const text = texts.get(id);
      // The store keeps it until the group is closed. So it was lost with data of the store.
      if (text === undefined) throw new Error(`member ${id} of the group was lost with data of the store`);
      const { ending, error } = decodeTask(text);
      const { outcome = 'completed', result } = ending ?? {};
      yield { number, id, outcome, ...(result !== undefined && { result }), ...(error && { error }) };
    }
  }
}
