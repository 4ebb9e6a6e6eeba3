import { forEachLimit } from '../../core/async/for-each-limit.js';
import { InvalidOptionsError, show } from '../../core/decision/index.js';
import { isUnreadable } from '../../core/cell/known-record.js';
import type { TextStep } from '../../core/cell/text-cells.js';
import { MOST_KEYS } from '../../core/store/index.js';
import type { Dedup } from '../rules/submit-options.js';
import type { Awaited, Outcome, Task } from '../rules/task.js';
import { groupId, groupType, isGroupId } from '../rules/task-id.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import { type Submission, hasEnded, type EndedAwaited, lookedAt, unblock } from '../rules/transitions.js';
import { isUnplaced } from '../rules/effects.js';
import { SerialQueues } from './serial-queues.js';
import { AwaitedRecords, type AwaitedStore } from './awaited-records.js';

/** Tasks and groups that the look for a cycle reads. Each one costs a read of the store. */
const MOST_LOOKED_AT = 2000;

/** A task that is to wait for others. */
type Dependent = Pick<Submission, 'id' | 'type' | 'awaits'> & {
  readonly member?: { readonly group: string } | undefined;
  readonly sub?: Task['sub'] | undefined;
};

/** The tasks and groups for which a new task waits. */
export interface Registered {
  readonly after: readonly Awaited[];
  /** Those of them that ended without success. */
  readonly failed: readonly EndedAwaited[];
}

/**
 * Tasks that wait for the end of other tasks and groups.
 *
 *     submission  its id in the records of the others ─▶ the task itself, blocked ─▶ a look whether they have ended
 *     end         the other one is done, or the group is closed ─▶ each of its dependents loses it ─▶ finished
 *
 * The submitter looks after its write, and the end of another one reads the dependents after its own write. So one of both
 * finds the other. After a crash between two steps the sweep goes on: with a `done` task, or with a `blocked` one.
 */
export class TaskDependencies {
  readonly #records: AwaitedRecords;
  readonly queues: SerialQueues;

  constructor(private readonly store: AwaitedStore) {
    this.#records = new AwaitedRecords(store);
    this.queues = new SerialQueues(store, this.#records);
  }

  /**
   * Call this before the group of a member is opened.
   *
   * @throws InvalidOptionsError if the task would be a new one, and one of the awaited is not in the store, or waits itself
   * for the task
   */
  async expectPossible(waiter: Dependent, dedup: Dedup): Promise<void> {
    const { id } = waiter;
    const former = await this.store.find(id);
    if (former && (!hasEnded(former) || dedup === 'retained')) return;
    await this.#expectKnown(waiter);
    await this.#expectNoCycle(waiter);
  }

  async #expectKnown({ id, awaits = [] }: Dependent): Promise<void> {
    for (const each of awaits) if (!(await this.#records.find(each))) throw unknown(id, each);
  }

  /**
   * Notes in the records of the awaited that the task waits for them.
   *
   * @returns those that it must wait for, and which of them have failed already: these decide about the task with its first
   * write. They don't know it, and may be tried again at any time
   * @throws as {@link expectPossible}
   */
  async register(waiter: Dependent, afterFailed: Task['afterFailed']): Promise<Registered> {
    const { awaits = [] } = waiter;
    await this.#expectNoCycle(waiter);
    // A refused submission must leave no note in those that are there: they have room for so many only.
    if (awaits.length > 1) await this.#expectKnown(waiter);
    const awaited: Awaited[] = [];
    const failed: EndedAwaited[] = [];
    for (const id of awaits) {
      const found = await this.#records.add(id, waiter.id);
      if (!found) throw unknown(waiter.id, id);
      const { life, outcome } = found;
      const isSettled = outcome === 'completed' || (outcome !== undefined && afterFailed !== undefined);
      if (!isSettled) awaited.push({ id, life });
      if (!isSettled && outcome !== undefined) failed.push({ id, life, outcome });
    }
    return { after: awaited, failed };
  }

  /** Looks whether those have ended for which a blocked task waits. */
  async look(task: Task, text: string): Promise<void> {
    const ended: EndedAwaited[] = [];
    await forEachLimit(task.after ?? [], async (each) => {
      const outcome = await this.#outcomeOf(each);
      if (outcome) ended.push({ ...each, outcome });
    });
    if (ended.length > 0) return this.#note(task.id, ended, text);
    const stamp = await this.store.stamp();
    if (task.at <= stamp.now) await this.store.texts.write(task.id, text, encodeTask(lookedAt(task, stamp)));
  }

  /** Makes sure that a task of a serial queue has its place there: a crash may have come before. */
  async ensurePlaced(id: string): Promise<void> {
    const text = await this.store.texts.read(id);
    const task = text === undefined ? undefined : decodeTask(text);
    if (task && isUnplaced(task)) await this.store.settle(task, text!);
  }

  /**
   * Tells the dependents of a task, or of a group, that it has ended. Passes by those that can't be read: a newer version may
   * have written them, and their own looks find the end later. Idempotent.
   */
  async tell(ended: EndedAwaited, dependents: readonly string[]): Promise<void> {
    const errors: unknown[] = [];
    await forEachLimit(dependents, async (id) => {
      try {
        await this.#note(id, [ended]);
      } catch (error) {
        if (!isUnreadable(error)) throw error;
        errors.push(error);
      }
    });
    const action = `tell ${errors.length} of ${dependents.length} tasks that ${ended.id} has ended`;
    if (errors.length > 0) this.store.context.events.next({ type: 'problem', action, error: errors[0] });
  }

  /** {@link tell} for a group, if it is closed: then no other dependents come any more. */
  async tellEndOfGroup(id: string): Promise<void> {
    const { dependents = [], ended } = (await this.#records.findClosed(id)) ?? {};
    if (ended) await this.tell(ended, dependents);
  }

  /** The groups for which a task waits, and of which no member is in the store: their first submission failed. */
  async emptyGroups({ after = [] }: Task): Promise<string[]> {
    const empty: string[] = [];
    await forEachLimit(
      after.filter(({ id }) => isGroupId(id)),
      async ({ id }) => {
        const isEmpty = this.store.groups.abandoned.isEmpty(id);
        if (await isEmpty.catch((error: unknown) => unlessUnreadable(error))) empty.push(id);
      },
    );
    return empty;
  }

  async #note(id: string, ended: readonly EndedAwaited[], text?: string): Promise<void> {
    const rule = async (found: string | undefined): Promise<TextStep<void>> => {
      if (found === undefined) return { result: undefined };
      const task = decodeTask(found);
      const next = unblock(task, ended, await this.store.stamp());
      if (next === task) return { result: undefined };
      const write = encodeTask(next);
      const done = async () => {
        // One that is still blocked has just been looked at.
        if (next.state !== 'blocked') await this.store.settle(next, write);
      };
      return { write, done };
    };
    await this.store.texts.change(id, rule, { known: text === undefined ? undefined : { text } });
  }

  /**
   * How an awaited one ended. One that was forgotten, or was submitted again, told its dependents before. One of these may
   * have been written after that.
   */
  async #outcomeOf({ id, life }: Awaited): Promise<Outcome | undefined> {
    // Its other dependents end now as well, and not with their own next looks.
    if (isGroupId(id) && (await this.store.settling.endMemberless(id))) await this.tellEndOfGroup(id);
    const found = await this.#records.find(id);
    if (found?.life === life) return found.outcome;
    return found?.former?.life === life ? found.former.outcome : 'completed';
  }

  /**
   * A new task can only be waited for by what it belongs to: its group, its parent and the parent's group, and so on; and by
   * their dependents. A task of its own belongs to nothing, and costs no read.
   *
   * @throws InvalidOptionsError if it would wait for itself, or if that can't be found with a bounded number of reads
   */
  async #expectNoCycle({ id, type, member, sub, awaits = [] }: Dependent): Promise<void> {
    const awaited = new Set(awaits);
    const seen = new Set<string>();
    let next = [id, ...ownersOf({ type, member, sub })];
    while (awaited.size > 0 && next.length > 0) {
      const found = next.find((each) => awaited.has(each));
      if (found !== undefined) throw cycle(id, found);
      if (seen.size + next.length > MOST_LOOKED_AT) throw tooManyWaiting(id);
      for (const each of next) seen.add(each);
      const waiting = await this.#waitingFor(next.filter((each) => each !== id));
      next = [...new Set(waiting)].filter((each) => !seen.has(each));
    }
  }

  /** Ids of what surely ends after one of these. */
  async #waitingFor(ids: readonly string[]): Promise<string[]> {
    const waiting: string[] = [];
    await forEachLimit(ids.filter(isGroupId), async (id) => {
      waiting.push(...((await this.#records.find(id))?.dependents ?? []));
    });
    const others = ids.filter((id) => !isGroupId(id));
    for (let begin = 0; begin < others.length; begin += MOST_KEYS) {
      const texts = await this.store.texts.readMany(others.slice(begin, begin + MOST_KEYS));
      for (const text of texts.values()) {
        await this.store.slices.turn();
        const task = decodeTask(text);
        waiting.push(...(task.dependents ?? []), ...ownersOf(task));
      }
    }
    return waiting;
  }
}

/** @returns false for the error of a record that can't be read */
function unlessUnreadable(error: unknown): false {
  if (isUnreadable(error)) return false;
  throw error;
}

/** Ids of the group and the parent of a task, which end after it. */
function ownersOf({ type, member, join, sub }: Omit<Dependent, 'id' | 'awaits'> & Pick<Task, 'join'>): string[] {
  const of = member ?? join;
  return [...(of ? [groupId(groupType(type), of.group)] : []), ...(sub ? [sub.parent] : [])];
}

function unknown(id: string, awaited: string): InvalidOptionsError {
  const first = isGroupId(awaited) ? ', also a group without members: groupOf() does so for an empty list' : '';
  const why = `is not in the store: it was not submitted, or it is no longer remembered. Submit it first${first}`;
  return new InvalidOptionsError(`task ${show(id)}`, [`after: ${show(awaited)} ${why}`]);
}

function cycle(id: string, awaited: string): InvalidOptionsError {
  const why = id === awaited ? 'is this task itself' : 'can only end after this task: both would wait for ever';
  return new InvalidOptionsError(`task ${show(id)}`, [`after: ${show(awaited)} ${why}`]);
}

function tooManyWaiting(id: string): InvalidOptionsError {
  const why = `more than ${MOST_LOOKED_AT} tasks and groups wait for its group or its parent, too many to find whether it would wait for itself`;
  return new InvalidOptionsError(`task ${show(id)}`, [`after: ${why}: submit it without "after", or in another group`]);
}
