import { isUnreadable } from '../../core/cell/known-record.js';
import { MOST_KEYS } from '../../core/store/index.js';
import { viewOf, withoutSecrets } from '../by-hand/task-view.js';
import { type GroupRoot, begunAt, wasAbandoned } from '../rules/group.js';
import { givenName } from '../rules/sub-name.js';
import type { FoundGroups, GroupPage, TaskGroupOverview, TaskView } from '../rules/views.js';
import { readableTask } from '../rules/task.codec.js';
import { groupId, groupType, isGroupId, joinId, memberId } from '../rules/task-id.js';
import { ALL_DEAD, ALL_WAITING, type Range, allOf, waitingOf } from '../rules/task-place.js';
import type { TaskStore } from '../records/task-store.js';

/** Rows that a search for groups reads per state, and groups that it gives. */
const MOST_ROWS = 100;
const MOST_GROUPS = 50;

export interface GroupsQuery {
  /** Default: all. */
  readonly type?: string | undefined;
  readonly isWanted: (type: string) => boolean;
}

/** The groups of tasks, for operators. The store has no list of them, so a search looks at tasks. */
export class TaskGroups {
  constructor(private readonly store: TaskStore) {}

  /**
   * The groups of the first tasks of each state, at most 50. Reads up to 100 tasks of each state, whatever it finds.
   *
   * @throws StoreUnavailableError
   */
  async search({ type, isWanted }: GroupsQuery): Promise<FoundGroups> {
    const found = new Set<string>();
    let isCut = false;
    for (const { from, to } of rangesOf(type)) {
      const rows = await this.store.paced.range(from, to, MOST_ROWS);
      isCut ||= rows.length === MOST_ROWS;
      for (const { text } of rows) {
        await this.store.slices.turn();
        const group = groupIn(text, (each) => (type === undefined || each === type) && isWanted(each));
        if (group !== undefined) found.add(group);
      }
    }
    // In the order of the ranges: those of tasks that run or wait come first.
    const ids = [...found];
    const { roots, leftOut } = await this.store.groups.roots(ids.slice(0, MOST_GROUPS));
    const overviews: (TaskGroupOverview | typeof UNREADABLE)[] = [];
    for (const root of roots) overviews.push(await unlessUnreadable(this.#overviewOf(root)));
    const groups = overviews.filter((each) => each !== UNREADABLE).toSorted(unfinishedThenNewest);
    return { groups, isCut: isCut || ids.length > MOST_GROUPS, leftOut: leftOut + overviews.length - groups.length };
  }

  /**
   * A page of the members of a group, by their numbers.
   *
   * @param from first number
   * @param limit at most 100
   * @returns undefined if there is no such group
   * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
   */
  async page(type: string, group: string, from: number, limit: number): Promise<GroupPage | undefined> {
    const root = await this.store.groups.latest(type, group);
    if (!root) return undefined;
    const highest = root.total ?? root.highest ?? 0;
    const last = Math.min(highest, from + limit - 1);
    const numbers = Array.from({ length: Math.max(0, last - from + 1) }, (_, index) => from + index);
    const ids = numbers.map((number) => memberId(type, group, number));
    const texts = await this.store.texts.readMany([...ids, joinId(type, group)].slice(0, MOST_KEYS));
    const members: ReturnType<typeof viewIn>[] = [];
    for (const id of ids) {
      await this.store.slices.turn();
      members.push(viewIn(texts.get(id)));
    }
    const handler = viewIn(texts.get(joinId(type, group)));
    return {
      group: await this.#overviewOf(root),
      members: members.filter((each) => typeof each === 'object'),
      missing: numbers.filter((_, index) => members[index] === undefined),
      leftOut: members.filter((each) => each === UNREADABLE).length,
      ...(last < highest && { next: last + 1 }),
      ...(typeof handler === 'object' && { handler }),
      ...(handler === UNREADABLE && { isHandlerUnreadable: true as const }),
    };
  }

  /** A group of sub-tasks. @returns undefined if it is not remembered @throws StoreUnavailableError */
  find(type: string, group: string): Promise<TaskGroupOverview | typeof UNREADABLE | undefined> {
    return unlessUnreadable(this.store.groups.latest(type, group).then((root) => root && this.#overviewOf(root)));
  }

  async #overviewOf(root: GroupRoot): Promise<TaskGroupOverview> {
    const { group: id, type, state, total, stopped } = root;
    const group = id.slice(type.length + 1, -1);
    const counts = state === 'closed' ? await this.#closed(root) : await this.store.groups.progress(root);
    return {
      id,
      type,
      group,
      name: givenName(group),
      state,
      begunAt: begunAt(root),
      ...(total !== undefined && { total }),
      ...counts,
      ...(stopped && { stopped }),
    };
  }

  /** Its pages may be gone already. */
  async #closed(root: GroupRoot): Promise<{ ended: number; failed: number }> {
    const { failed } = await this.store.groups.progress(root);
    return { ended: wasAbandoned(root) ? 0 : (root.total ?? 0), failed };
  }
}

/** The order of groups for people: what still goes on, and what began last. */
export function unfinishedThenNewest(one: TaskGroupOverview, other: TaskGroupOverview): number {
  const isClosed = ({ state }: TaskGroupOverview) => Number(state === 'closed');
  return isClosed(one) - isClosed(other) || other.begunAt - one.begunAt || (one.id < other.id ? -1 : 1);
}

/** Ranges of the texts of tasks that may be in groups: those that run first. */
function rangesOf(type: string | undefined): Range[] {
  const waiting = type === undefined ? [ALL_WAITING] : waitingOf(type);
  const [running, awaiting, ...others] = (['claimed', 'awaiting', 'delayed', 'blocked', 'done'] as const).map(allOf);
  return [running!, awaiting!, ...waiting, ...others, ALL_DEAD, allOf('finished')];
}

/** Id of the group of a task. */
function groupIn(text: string, isWanted: (type: string) => boolean): string | undefined {
  const task = readableTask(text);
  const of = task?.member ?? task?.join;
  const type = task && groupType(task.type);
  return of && !of.isOver && type !== undefined && isWanted(type) ? groupId(type, of.group) : undefined;
}

/** A record that is there, and that this node can't read: of a newer version, or corrupt. */
export const UNREADABLE = 'unreadable';

async function unlessUnreadable<T>(found: Promise<T>): Promise<T | typeof UNREADABLE> {
  try {
    return await found;
  } catch (error) {
    if (isUnreadable(error)) return UNREADABLE;
    throw error;
  }
}

/** The task of a text, for people. @returns undefined for no text */
export function viewIn(text: string | undefined): TaskView | typeof UNREADABLE | undefined {
  if (text === undefined) return undefined;
  const task = readableTask(text);
  return task ? withoutSecrets(viewOf(task)) : UNREADABLE;
}

/** Type and name of a group by its id; undefined if it is none. */
export function groupOfId(id: string): { readonly type: string; readonly group: string } | undefined {
  if (!isGroupId(id)) return undefined;
  const at = id.indexOf('[');
  return { type: id.slice(0, at), group: id.slice(at + 1, -1) };
}
