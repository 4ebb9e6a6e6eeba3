import { forEachLimit } from '../../core/async/for-each-limit.js';
import type { Slices } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import { afterWrite } from '../../core/store/after-write.js';
import { MOST_KEYS } from '../../core/store/index.js';
import { type CancelAuthor, type TaskRecords, cancelFound } from './cancel.js';
import { type GroupRoot, nextOpenPage, placeOf, PAGE_BITS } from '../rules/group.js';
import type { Incarnation, Task } from '../rules/task.js';
import { groupId, memberId } from '../rules/task-id.js';
import { readableTask } from '../rules/task.codec.js';
import { allOf } from '../rules/task-place.js';
import type { PacedStore } from './paced-store.js';
import { type GroupStop, decodeStop, encodeStop, goOn, newStop, rest, stopKey } from '../rules/group-stop.js';
import type { Cancellation } from '../rules/task-parts.js';

interface StopsStore extends TaskRecords {
  readonly paced: Pick<PacedStore, 'range'>;
  readonly slices: Pick<Slices, 'turn'>;
  readonly settling: { endMemberless(group: string): Promise<boolean> };
}

/** The tasks that run on this node. */
interface Running {
  /** Numbers of the members of an incarnation. */
  membersOf(type: string, of: Incarnation): number[];
  /** Aborts the signal of a task that is cancelled. */
  cancel(task: Task): void;
}

/** Ended members that are looked through before an attempt. Those of a node that died are the first ones. */
const MOST_UNSETTLED = 32;

/** A stop as it stands in the store. */
interface Noted {
  readonly stop: GroupStop;
  readonly text: string;
  readonly isNew: boolean;
}

/**
 * Ends the members of a group that have not ended: by hand, or because a member with `failGroupFast` did not succeed.
 *
 *     note    the stop, one text ─▶ `stopped` in the root ─▶ walk over the members, a page per pass ─▶ all have ended: removed
 *     member  submitted later: sees `stopped` in the root, and ends at once
 *             waits, or runs:  the walk cancels it, as `cancel()` does
 *             with the flag:   sees `stopped` also when an attempt begins
 *
 * After a crash the sweep goes on from the text. A member that was being submitted while `stopped` was written may be
 * created behind the walk, so the walks are repeated until all members have ended.
 */
export class GroupStops {
  #running?: Running;

  constructor(
    private readonly store: StopsStore,
    private readonly context: Pick<Context, 'events'>,
  ) {}

  /** The tasks that run on this node: they are stopped first, and their signals abort at once. */
  watch(running: Running): void {
    this.#running = running;
  }

  /**
   * Stops an incarnation. Idempotent: the first author stays.
   *
   * @param isUrgent whether to end members at once also if the stop is known: its node may be lost, or its answer was
   * @returns author and reason of the stop; undefined if all members have ended
   * @throws UnknownOutcomeError if it may be stopped
   * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
   */
  async stop(
    type: string,
    of: Incarnation,
    author: CancelAuthor,
    isUrgent: boolean,
  ): Promise<Cancellation | undefined> {
    const noted = await this.#note(type, of, author);
    return noted && afterWrite(() => this.#begin(type, of, noted, isUrgent));
  }

  async #begin(type: string, of: Incarnation, noted: Noted, isUrgent: boolean): Promise<Cancellation | undefined> {
    const root = await this.store.groups.stop(type, of, noted.stop.cancel);
    if (!root) await this.#remove(noted);
    else if (noted.isNew || isUrgent) await this.#walk(noted, root).catch(this.#problem('end the members of a group'));
    return root?.stopped;
  }

  /** A member has ended without success. If it has the flag, the rest of its group must end, too. Call it again after a crash. */
  async memberFailed({ id, type, member, failGroupFast, cancel, ending }: Task): Promise<void> {
    if (!member || member.isOver || !failGroupFast || cancel?.isOfGroup) return;
    const reason = `${id} ended without success (${ending?.outcome}), and has failGroupFast`;
    await this.stop(type, member, { by: id, reason }, false);
  }

  /**
   * One page of the members of a stop that is due.
   *
   * @returns whether there is more to do at once
   */
  async runPass(text: string): Promise<boolean> {
    const stop = decodeStop(text);
    const noted = { stop, text, isNew: false };
    await this.store.settling.endMemberless(groupId(stop.type, stop.group));
    const root = await this.store.groups.stop(stop.type, stop, stop.cancel);
    if (root) return this.#walk(noted, root);
    await this.#remove(noted);
    return false;
  }

  /** The group is closed. */
  async forget(type: string, { group, incarnation }: Incarnation): Promise<void> {
    const text = await this.store.texts.read(stopKey({ type, group }));
    if (text === undefined) return;
    const stop = decodeStop(text);
    if (stop.incarnation === incarnation) await this.#remove({ stop, text });
  }

  /**
   * Author and reason if the group of a member with the flag is stopped, or is to be: the node of a member that failed may have
   * died before it wrote that.
   */
  async stoppedFor({ type, member, failGroupFast }: Task): Promise<Cancellation | undefined> {
    if (!failGroupFast || !member || member.isOver) return undefined;
    const [root, noted, failed] = await Promise.all([
      this.store.groups.find(type, member),
      this.#noted(type, member),
      this.#failed(type, member),
    ]);
    if (root?.stopped) return root.stopped;
    if (noted) return noted;
    if (!failed) return undefined;
    await this.memberFailed(failed);
    return (await this.store.groups.find(type, member))?.stopped;
  }

  /** The stop of an incarnation that is noted, and perhaps not yet in its root. */
  async #noted(type: string, { group, incarnation }: Incarnation): Promise<Cancellation | undefined> {
    const text = await this.store.texts.read(stopKey({ type, group }));
    const stop = text === undefined ? undefined : decodeStop(text);
    return stop?.incarnation === incarnation ? stop.cancel : undefined;
  }

  /** A member that has failed, and whose group may not know it. It is among the first that have ended and are not finished. */
  async #failed(type: string, of: Incarnation): Promise<Task | undefined> {
    const { from, to } = allOf('done');
    const rows = await this.store.paced.range(from, to, MOST_UNSETTLED);
    return rows
      .map(({ text }) => readableTask(text))
      .find((task) => task?.type === type && task.failGroupFast && isOf(task, of) && hasFailed(task));
  }

  /** Writes the text from which each node can go on. @returns undefined if a later incarnation is stopped */
  async #note(type: string, of: Incarnation, author: CancelAuthor): Promise<Noted | undefined> {
    const key = stopKey({ type, group: of.group });
    return this.store.texts.change<Noted | undefined>(key, async (found) => {
      const former = found === undefined ? undefined : decodeStop(found);
      if (former && former.incarnation > of.incarnation) return { result: undefined };
      if (former?.incarnation === of.incarnation) return { result: { stop: former, text: found!, isNew: false } };
      const stop = newStop(type, of, author, await this.store.stamp());
      const text = encodeStop(stop);
      return { write: text, done: () => ({ stop, text, isNew: true }) };
    });
  }

  /** Ends the members of the next page, and notes how far it came. */
  async #walk({ stop, text }: Pick<Noted, 'stop' | 'text'>, root: GroupRoot): Promise<boolean> {
    const page = nextOpenPage(root, placeOf(stop.next).page);
    if (stop.next === 1) await this.#cancel(stop, this.#running?.membersOf(stop.type, stop) ?? []);
    if (page !== undefined) await this.#cancel(stop, await this.store.groups.unendedOn(root, page));
    const later = page === undefined ? undefined : nextOpenPage(root, page + 1);
    const stamp = await this.store.stamp();
    const changed =
      later === undefined ? rest(stop, root.total !== undefined, stamp) : goOn(stop, later * PAGE_BITS + 1, stamp);
    const { isWritten } = await this.store.texts.write(stopKey(stop), text, encodeStop(changed));
    return isWritten && later !== undefined;
  }

  async #cancel(stop: GroupStop, numbers: readonly number[]): Promise<void> {
    const { texts, slices } = this.store;
    for (let begin = 0; begin < numbers.length; begin += MOST_KEYS) {
      const ids = numbers.slice(begin, begin + MOST_KEYS).map((number) => memberId(stop.type, stop.group, number));
      const found = [...(await texts.readMany(ids))];
      await forEachLimit(found, async ([id, text]) => {
        await slices.turn(text.length);
        await this.#cancelOne(stop, id, text);
      });
    }
  }

  async #cancelOne({ incarnation, cancel }: GroupStop, id: string, text: string): Promise<void> {
    const isMeant = ({ member }: Task) => member?.incarnation === incarnation && !member.isOver;
    const found = readableTask(text);
    // One that can't be read must not end the walk. It has not ended, so the next walks meet it again.
    if (!found || !isMeant(found)) return;
    const { at: _at, ...author } = cancel;
    const { task } = await cancelFound(id, text, author, this.store, this.context, isMeant);
    if (task) this.#running?.cancel(task);
  }

  async #remove({ stop, text }: Pick<Noted, 'stop' | 'text'>): Promise<void> {
    await this.store.texts.write(stopKey(stop), text, undefined);
  }

  /** The text stays, so the sweep goes on. */
  #problem(action: string): (error: unknown) => boolean {
    return (error) => {
      this.context.events.next({ type: 'problem', action, error });
      return false;
    };
  }
}

function isOf({ member }: Task, { group, incarnation }: Incarnation): boolean {
  return member?.group === group && member.incarnation === incarnation && !member.isOver;
}

function hasFailed({ ending, cancel }: Task): boolean {
  return ending !== undefined && ending.outcome !== 'completed' && !cancel?.isOfGroup;
}
