import { forEachLimit } from '../../core/async/for-each-limit.js';
import type { Slices } from '../../core/async/slices.js';
import { type Family, type Incarnation, type SubTask, type Task, familyIn } from '../rules/task.js';
import { memberId } from '../rules/task-id.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import type { TextCells } from '../../core/cell/text-cells.js';
import type { Groups } from './groups/groups.js';
import type { Dedup } from '../rules/submit-options.js';
import type { Submitted } from '../rules/answers.js';
import type { Joining, NewTask } from '../rules/submission.js';
import * as transitions from '../rules/transitions.js';
import type { Stamp, Submission } from '../rules/transitions.js';
import { ChildList } from './child-list.js';
import { FAMILY, familyOf, readChild } from '../rules/sub-name.js';

/**
 * ms until the sweep looks again at a task that waits for its sub-tasks. The last of them ends the wait, also if its node
 * crashes. So this matters only after data were lost.
 */
const AGAIN = 600_000;

/** The part of the store of tasks that its parents need. */
interface ParentsStore {
  readonly texts: TextCells;
  readonly groups: Groups;
  /** Of thousands of sub-tasks, most are confirmed: nothing is asked of the store for these. */
  readonly slices: Pick<Slices, 'turn'>;
  stamp(): Promise<Stamp>;
  find(id: string): Promise<Task | undefined>;
  create(submission: Submission, dedup: Dedup, make?: transitions.FirstState): Promise<Submitted>;
  readonly settling: { joinIfEnded(type: string, member: Incarnation, task: Joining): Promise<void> };
  settle(task: Task, text: string): Promise<void>;
}

/** A life of a task that has sub-tasks. */
type Parent = Pick<Task, 'id' | 'limits'> & { readonly split: number };

/**
 * Tasks whose handlers submit sub-tasks. A group without a handler counts the sub-tasks of one life of a task, the family:
 *
 *     attempt     split in the task ─▶ root of the family ─▶ entry in the list ─▶ the sub-task itself
 *     end         claimed ─▶ awaiting ─▶ list sealed ─▶ entries without a task are skipped ─▶ total in the root
 *     last child  its bit in the family ─▶ the root says that all have ended ─▶ awaiting ─▶ done
 *
 * After a crash between any two of these steps, the next attempt or the sweep goes on: each step can be taken again.
 */
export class Parents {
  constructor(private readonly store: ParentsStore) {}

  /** The list of the sub-tasks of one life of a task. */
  listOf(family: Incarnation): ChildList {
    const { texts, id } = this.store.groups.parts;
    return new ChildList(family, { texts, id });
  }

  /**
   * Submits a sub-task once in its parent's life.
   *
   * @param newTask with its name in the whole cluster
   * @returns undefined if the parent has begun a new life
   * @throws as for any other task
   */
  async submit({ member: name, ...others }: NewTask, sub: SubTask): Promise<Submitted | undefined> {
    const { store } = this;
    const { type } = others;
    if (!name) return store.create({ ...others, sub }, 'unfinished');
    const { group, number, total } = name;
    const member = { group, number, incarnation: sub.incarnation };
    const root = await store.groups.begin(type, member, { number, ...(total !== undefined && { total }) });
    if (!root) return undefined;
    const submitted = await store.create(
      { ...others, member, sub },
      'unfinished',
      transitions.firstState(member, root.stopped),
    );
    // It may have ended before the total was noted.
    if (submitted.outcome === 'known' && total !== undefined)
      await store.settling.joinIfEnded(type, member, { ...others, sub });
    return submitted;
  }

  /**
   * The steps after the handler of a task with sub-tasks has ended. Any node may take them again.
   *
   * @param confirmed ids of sub-tasks that are surely in the store
   */
  async endAfterSubTasks(task: Task, text: string, confirmed: ReadonlySet<string>): Promise<void> {
    const { store } = this;
    const { id, split = 0, limits } = task;
    const total = await this.#seal({ id, split, limits }, confirmed);
    if (total === 0 || (await store.groups.haveEnded(FAMILY, familyOf(id, split)))) return this.#release(id, split);
    const { now, nonce } = await store.stamp();
    await store.texts.write(id, text, encodeTask({ ...task, at: now + AGAIN, nonce }));
  }

  /** Notes that a sub-task, or the handler of a group of sub-tasks, has ended. Idempotent. */
  async ended({ parent, incarnation, number }: SubTask, hasFailed: boolean): Promise<void> {
    const place = { ...familyOf(parent, incarnation), number };
    if (await this.store.groups.ended(FAMILY, place, hasFailed)) await this.#release(parent, incarnation);
  }

  /** Whether the parent no longer needs to find its sub-task. Until then an attempt may submit it again. */
  async isOver({ parent, incarnation }: SubTask): Promise<boolean> {
    if (await this.store.groups.isOver(FAMILY, familyOf(parent, incarnation))) return true;
    // Else the parent was lost with data of the store.
    return this.removeIfGone({ parent, incarnation });
  }

  /** Removes the records of a family whose parent was forgotten, or has begun a new life. @returns whether it was so */
  async removeIfGone({ parent, incarnation }: Pick<SubTask, 'parent' | 'incarnation'>): Promise<boolean> {
    if ((await this.store.find(parent))?.split === incarnation) return false;
    await this.remove(parent, { incarnation, total: 0 });
    return true;
  }

  /** {@link remove} for a parent that has ended, if it has a family. */
  async removeFamily(task: Task): Promise<void> {
    const family = familyIn(task);
    if (family) await this.remove(task.id, family);
  }

  /**
   * Removes the records of a family whose parent has ended. Idempotent.
   *
   * @param total counts if the root does not say more: a late write may have made the root again, or other records
   */
  async remove(parent: string, { incarnation, total }: Family): Promise<void> {
    const family = familyOf(parent, incarnation);
    const root = await this.store.groups.find(FAMILY, family);
    await this.listOf(family).remove(Math.max(root?.total ?? 0, total));
    await this.store.groups.close(FAMILY, family);
    await this.store.groups.remove(FAMILY, family, total);
  }

  /** @returns the number of sub-tasks */
  async #seal(parent: Parent, confirmed: ReadonlySet<string>): Promise<number> {
    const family = familyOf(parent.id, parent.split);
    const root = await this.store.groups.find(FAMILY, family);
    if (root?.total !== undefined) return root.total;
    const list = this.listOf(family);
    await list.seal();
    await forEachLimit([...list.numbers], ([entry, number]) => this.#complete(parent, entry, number, confirmed));
    const total = list.numbers.size;
    if (total > 0) await this.store.groups.begin(FAMILY, family, { total });
    return total;
  }

  /** Skips a sub-task that was announced and not submitted. */
  async #complete(parent: Parent, entry: string, number: number, confirmed: ReadonlySet<string>): Promise<void> {
    await this.store.slices.turn();
    const { id, type, group } = readChild(entry, parent.id);
    const sub: SubTask = { parent: parent.id, incarnation: parent.split, number };
    if (group !== undefined) return this.#completeGroup(parent, { type, group, sub }, confirmed);
    if (!confirmed.has(id!)) await this.#skip({ id: id!, type, sub, priority: 'normal', limits: parent.limits });
  }

  /** No member comes any more, so the total is known. */
  async #completeGroup(
    { limits, split }: Parent,
    { type, group, sub }: { readonly type: string; readonly group: string; readonly sub: SubTask },
    confirmed: ReadonlySet<string>,
  ): Promise<void> {
    const { groups } = this.store;
    const incarnation = { group, incarnation: split };
    const root = await groups.find(type, incarnation);
    const total = root?.total ?? root?.highest ?? 1;
    await groups.begin(type, incarnation, { total });
    const missing: number[] = [];
    for (const number of await groups.unended(type, incarnation, total)) {
      const turn = this.store.slices.turn();
      if (turn) await turn;
      if (!confirmed.has(memberId(type, group, number))) missing.push(number);
    }
    await forEachLimit(missing, async (number) => {
      const member = { ...incarnation, number };
      await this.#skip({ id: memberId(type, group, number), type, sub, member, priority: 'normal', limits });
    });
    await this.store.settling.joinIfEnded(type, incarnation, { limits, sub });
  }

  async #skip(submission: Submission): Promise<void> {
    await this.store.create(submission, 'unfinished', transitions.skip);
  }

  /** The task has waited for its last sub-task. */
  async #release(id: string, incarnation: number): Promise<void> {
    const { texts, groups } = this.store;
    await texts.change<void>(id, async (text) => {
      const task = text === undefined ? undefined : decodeTask(text);
      if (task?.state !== 'awaiting' || task.split !== incarnation) return { result: undefined };
      const counts = await groups.counts(FAMILY, familyOf(id, incarnation));
      const next = transitions.subTasksEnded(task, counts, await this.store.stamp());
      const write = encodeTask(next);
      return { write, done: () => this.store.settle(next, write) };
    });
  }
}
