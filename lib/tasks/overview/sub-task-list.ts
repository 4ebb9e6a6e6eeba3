import type { SubTaskEntry } from '../rules/views.js';
import { PAGE_ENTRIES } from '../records/child-list.js';
import { type Child, familyOf, readChild } from '../rules/sub-name.js';
import { groupId } from '../rules/task-id.js';
import type { TaskStore } from '../records/task-store.js';
import { TaskGroups, UNREADABLE, viewIn } from './task-groups.js';

/** A page of the sub-tasks of a task, in the order of their submissions. */
export interface SubTaskPage {
  /** At most 128. */
  readonly subTasks: readonly SubTaskEntry[];
  /** Number of the next page; absent: there is none. */
  readonly next?: number;
}

/**
 * A page of the sub-tasks of one task, at most 128.
 *
 * @param page from 0
 * @returns undefined if there is no such task
 * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
 */
export async function subTasksOf(store: TaskStore, id: string, page: number): Promise<SubTaskPage | undefined> {
  const task = await store.find(id);
  if (!task) return undefined;
  const list = task.split === undefined ? undefined : store.parents.listOf(familyOf(id, task.split));
  const entries = (await list?.entriesOf(page)) ?? [];
  const children = entries.map((entry) => readChild(entry, id));
  const tasks = await store.texts.readMany(children.flatMap((child) => child.id ?? []));
  const subTasks: SubTaskEntry[] = [];
  for (const child of children) {
    await store.slices.turn();
    subTasks.push(await entryOf(child, tasks, new TaskGroups(store)));
  }
  return { subTasks, ...(entries.length === PAGE_ENTRIES && { next: page + 1 }) };
}

async function entryOf(
  { type, id, group: name }: Child,
  tasks: ReadonlyMap<string, string>,
  groups: TaskGroups,
): Promise<SubTaskEntry> {
  if (name !== undefined) {
    const group = await groups.find(type, name);
    if (group === UNREADABLE) return { id: groupId(type, name), isUnreadable: true };
    return { id: groupId(type, name), ...(group && { group }) };
  }
  const task = viewIn(tasks.get(id!));
  if (task === UNREADABLE) return { id: id!, isUnreadable: true };
  return { id: id!, ...(task && { task }) };
}
