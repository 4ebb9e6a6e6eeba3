import type { TaskView } from '../by-hand/task-view.js';
import { PAGE_ENTRIES } from '../records/child-list.js';
import { type Child, familyOf, readChild } from '../rules/sub-name.js';
import { groupId } from '../rules/task-id.js';
import type { TaskStore } from '../records/task-store.js';
import { type TaskGroupOverview, TaskGroups, UNREADABLE, viewIn } from './task-groups.js';

/** A sub-task, or a group of sub-tasks. */
export interface SubTaskEntry {
  /** Id of the task or of the group. */
  readonly id: string;
  /** Absent if it is a group, is not in the store (not submitted yet, or forgotten), or can't be read. */
  readonly task?: TaskView;
  /** Absent if it is a task, or if there is no such group in the store. */
  readonly group?: TaskGroupOverview;
  /** Present if it is in the store, and this node can't read it: of a newer version, or corrupt. */
  readonly isUnreadable?: true;
}

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
