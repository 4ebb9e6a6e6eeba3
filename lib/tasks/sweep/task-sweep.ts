import { groupType } from '../rules/task-id.js';
import type { Context } from '../../core/context/context.js';
import { EarlyRemoval } from './early-removal.js';
import { type LivingNodes, Readdressing } from './readdressing.js';
import { RangeScanner } from './range-scanner.js';
import { LapsedClaims, isStampedAhead } from './lapsed-claims.js';
import { FIRST_BATCH, behindText, batchAfter } from '../../core/store/text-batches.js';
import { QueueHeads } from './queue-heads.js';
import { ForgottenSchedules } from './forgotten-schedules.js';
import type { Task } from '../rules/task.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import {
  ALL_ADDRESSED,
  ALL_FAIR,
  ALL_OPEN,
  type WaitingPlace,
  deadRange,
  fairPrefix,
  placeOfText,
  rangeFrom,
  rangeOf,
  timeOfText,
  waitingRange,
} from '../rules/task-place.js';
import { isLeft } from '../rules/due-rule.js';
import { dueStops, laterStops } from '../rules/group-stop.js';
import type { TaskStore } from '../records/task-store.js';
import * as transitions from '../rules/transitions.js';
import type { Stamp } from '../rules/transitions.js';
import { forEachLimit } from '../../core/async/for-each-limit.js';
import { Slices } from '../../core/async/slices.js';
import type { TextEntry } from '../../core/store/index.js';

/** Rows of one kind in one pass, at most. */
const MOST_ROWS = 250;
/** ms for which the node that ended a task has time to finish it itself. */
const UNSETTLED = 2000;
/** ms by which a waiting task may be older than the head of its queue, and still have its hint. */
const UNHINTED = 5000;
/** ms after which the hint of a task that became due is followed: its queue is empty, and the task waits. */
const FOLLOWED = 400;
/** Queues whose hints are followed, at most. The others are left to {@link TaskSweep.runPass}. */
const MOST_FOLLOWED = 100;
/** Claims whose leases end so many ms from now are looked at, too, with so many ms between two looks. Most leases are shorter. */
const LATE = { ms: 60_000, pause: 10_000 };

/** Of {@link TextWork}. */
type Work = (task: Task, text: string) => Promise<void | 'stays'>;
/** One kind of work: at its time, or without a fixed time. @returns whether there is more to do for it at once */
type Look = readonly [kind: 'timed' | 'untimed', look: () => Promise<boolean | undefined>, next?: NextTime];

/** Where the next time of one kind of timed work stands. */
interface NextTime {
  readonly kind: string;
  /** Texts of the work that is not due yet. */
  readonly range: readonly [from: string, to: string];
  /** ms from the time in a text until its work is due. */
  readonly later: number;
}

/** A hint that was offered. */
interface Offer {
  /** Time in the text of its task. */
  readonly at: number;
  /** Monotonic ms. */
  readonly since: number;
}

/** The hints of one queue that were offered and not followed yet. Those in between are followed with the last one. */
interface Offers {
  readonly place: WaitingPlace;
  first: Offer;
  last: Offer;
}

/** Outcome of {@link TaskSweep.due}. */
export interface DueLook {
  /** Whether there may be more to do at once. */
  readonly isMore: boolean;
  /** Cluster time at which the next work is due; undefined if none is planned. */
  readonly next?: number | undefined;
}

/**
 * Finds by their order the tasks that need something, whatever happened to the nodes:
 *
 * | tasks                                       | what it does                                        |
 * | ------------------------------------------- | --------------------------------------------------- |
 * | delayed, and due                            | lets them wait for a node                           |
 * | blocked by others for long                  | looks whether these have ended                      |
 * | claimed, and the lease is over              | lets them wait again, or ends them as `crashed`     |
 * | claimed by a clock that was ahead           | the same, when the claim has stood for its lease    |
 * | awaiting their sub-tasks for long           | takes the steps after the end of the handler again  |
 * | done for long                               | takes the steps after the end again                 |
 * | finished, and remembered long enough        | removes them                                        |
 * | finished, and all have too many bytes       | removes the first ones                              |
 * | members of a group that is stopped          | ends the next ones                                  |
 * | waiting, and older than the head of the queue | offers a new hint                                 |
 * | of a first hint that stays, and do not wait   | removes the hint                                  |
 * | waiting with fair keys, and no ticket is there | offers new tickets                               |
 * | waiting since they were due, and their queue is empty | offers new hints: a node took them and died |
 * | waiting for a process that is gone          | moves them to other nodes, if their target wants it |
 * | schedules that no node has had for long     | removes their records                               |
 *
 * Work with a fixed time is done by {@link due}, and all other work by {@link runPass}. Nodes that do the same at the same time
 * do no harm. The calls of one object must come one after another.
 */
export class TaskSweep {
  /** Where the next pass begins, by kind, if it is not the begin of the range. */
  readonly #begins = new Map<string, string>();
  /** Rows for the next pass, by kind. */
  readonly #limits = new Map<string, number>();
  readonly #heads: QueueHeads;
  readonly #readdressing?: Readdressing;
  readonly #forgottenSchedules?: ForgottenSchedules;
  readonly #early: EarlyRemoval;
  readonly #lapsed: LapsedClaims;
  readonly #ahead: LapsedClaims;
  /** The first text of each kind of timed work that the last look left where it was. */
  readonly #seen = new Map<string, string>();
  /** Of the tasks that this object let wait, by queue. */
  readonly #offers = new Map<string, Offers>();
  /** ms for which work is left to other nodes. */
  #patience = 0;
  /** Whether the latest kind of work was left to them. */
  #isPutOff = false;
  /** When it looks next for claims that end late. */
  #nextAhead = -Infinity;
  /** Of the present pass. */
  #gaps: RangeScanner;

  /** @param nodes absent if the nodes don't publish themselves: then no task moves, and records of schedules stay */
  constructor(
    private readonly store: TaskStore,
    private readonly context: Context,
    nodes?: LivingNodes,
  ) {
    this.#gaps = new RangeScanner(store.paced);
    this.#lapsed = new LapsedClaims(context);
    this.#ahead = new LapsedClaims(context);
    this.#heads = new QueueHeads(store, context);
    this.#early = new EarlyRemoval(store, context, {
      isNeeded: async (task) => (await this.#readerOf(task)) !== undefined,
      remove: (task, text) => this.#remove(task, text),
    });
    if (nodes) this.#readdressing = new Readdressing(store, nodes, context.nodeClock);
    if (nodes) this.#forgottenSchedules = new ForgottenSchedules(store, nodes, context.nodeClock);
  }

  /** Does the work without a fixed time. @returns whether there may be more to do at once @throws StoreUnavailableError */
  async runPass(): Promise<boolean> {
    const { clusterClock, nodeClock } = this.context;
    await this.#begin(0);
    const now = clusterClock.earliest();
    let isMore = false;
    for (const [kind, look] of this.#looks(now, nodeClock.monotonic())) {
      if (kind === 'untimed' && (await look())) isMore = true;
    }
    await this.#forgottenSchedules?.runPass(now);
    return isMore;
  }

  /**
   * Does the work whose time has come.
   *
   * @param patience ms for which work that is due is left to other nodes
   * @throws StoreUnavailableError
   */
  async due(patience: number): Promise<DueLook> {
    const { clusterClock, nodeClock } = this.context;
    await this.#begin(patience);
    const now = clusterClock.earliest();
    const times: number[] = [];
    let isMore = false;
    for (const [kind, look, next] of this.#looks(now - patience, nodeClock.monotonic())) {
      if (kind !== 'timed') continue;
      this.#isPutOff = false;
      if (await look()) isMore = true;
      const at = this.#isPutOff ? now : next && (await this.#nextTime(next));
      if (at !== undefined) times.push(at);
    }
    for (const { since } of await this.#follow()) times.push(now + since + FOLLOWED - nodeClock.monotonic());
    return { isMore, next: times.length > 0 ? Math.min(...times) : undefined };
  }

  async #nextTime({ kind, range, later }: NextTime): Promise<number | undefined> {
    const text = await this.#gaps.first(...range);
    if (text === undefined) return void this.#seen.delete(kind);
    this.#seen.set(kind, text);
    // It is due when its time has surely passed.
    return timeOfText(text) + later + 1;
  }

  async #begin(patience: number): Promise<void> {
    await this.store.stamp();
    this.#gaps = new RangeScanner(this.store.paced);
    this.#patience = patience;
    this.#isPutOff = false;
  }

  /** In the order of the texts: then {@link RangeScanner} reads once or twice in a pass while nothing is due. */
  #looks(now: number, begun: number): Look[] {
    const settle: Work = (task, text) => this.store.settle(task, text);
    const forget: Work = (task, text) => this.#forget(task, text);
    const { clockTolerance } = this.context.timing;
    const [expired, unsettled] = [now - clockTolerance, now - UNSETTLED];
    const next = (kind: string, range: readonly [string, string], later = 0): NextTime => ({ kind, range, later });
    return [
      ['untimed', () => this.#each('awaiting', rangeOf('awaiting', unsettled), settle)],
      ['untimed', () => this.#each('blocked', rangeOf('blocked', now), settle)],
      [
        'timed',
        () => this.#lapsedClaims(rangeOf('claimed', expired)),
        next('claimed', rangeFrom('claimed', expired), clockTolerance),
      ],
      ['untimed', () => this.#claimsAhead(now, begun)],
      [
        'timed',
        () => this.#each('done', rangeOf('done', unsettled), settle),
        next('done', rangeFrom('done', unsettled), UNSETTLED),
      ],
      ['untimed', () => this.#each('finished', rangeOf('finished', now), forget)],
      [
        'timed',
        () => this.#each('delayed', rangeOf('delayed', now), this.#to(transitions.hint)),
        next('delayed', rangeFrom('delayed', now)),
      ],
      [
        'timed',
        () => this.#eachText('stopped', dueStops(now), (text) => this.store.stops.runPass(text)),
        next('stopped', laterStops(now)),
      ],
      ['timed', async () => this.#tellAddressed(begun)],
      ['untimed', async () => this.#readdressing?.runPass(now, this.#gaps)],
      ['untimed', () => this.#ticketsLost(now)],
      ['untimed', () => this.#hintLost(now)],
      ['untimed', () => this.#each('dead', deadRange(now), forget)],
      ['untimed', () => this.#early.runPass(now)],
    ];
  }

  /** Saves this node a read of its own, if the pass has passed the addressed tasks anyway. @param begun monotonic ms */
  #tellAddressed(begun: number): false {
    const isAny = this.#gaps.knows(ALL_ADDRESSED);
    if (isAny !== undefined) this.store.hints.seenAddressed(isAny, begun);
    return false;
  }

  /** Tasks with fair keys wait, and there is no ticket, or no ticket has come to the head of the queue for long. */
  async #ticketsLost(now: number): Promise<boolean> {
    let isMore = false;
    for (let place = await this.#nextQueue(ALL_FAIR.from, ALL_FAIR.to); place;) {
      const prefix = fairPrefix(place);
      const head = await this.#heads.look(place);
      const first = head === undefined ? undefined : placeOfText(head);
      const rows = first?.kind === 'fair' ? [] : await this.store.paced.range(prefix, `${prefix}~`, FIRST_BATCH);
      const before = Math.min(now, first?.at ?? now) - UNHINTED;
      const old = rows.filter(({ text }) => (placeOfText(text)?.at ?? now) < before);
      await workOff(old, this.#texts(this.#to(transitions.hint)), this.context);
      isMore ||= head === undefined && old.length === FIRST_BATCH;
      place = await this.#nextQueue(`${prefix}~`, ALL_FAIR.to);
    }
    return isMore;
  }

  /** @returns the next offers to follow @throws StoreUnavailableError */
  async #follow(): Promise<Offer[]> {
    const due = this.context.nodeClock.monotonic() - FOLLOWED;
    for (const [queue, { place, first, last }] of this.#offers) {
      if (first.since > due) continue;
      if (first === last) this.#offers.delete(queue);
      else this.#offers.set(queue, { place, first: last, last });
      await this.#offerAgain(place, first.at);
    }
    return [...this.#offers.values()].map(({ first }) => first);
  }

  /** @param until time of the texts */
  async #offerAgain({ type, priority, kind }: WaitingPlace, until: number): Promise<void> {
    const { hints, paced } = this.store;
    if ((await hints.queue(type, priority).peek()) !== undefined) return;
    const prefix = fairPrefix({ type, priority });
    const [from, to] = kind === 'fair' ? [prefix, `${prefix}~`] : waitingRange(type, priority, until + 1);
    const rows = await paced.range(from, to, FIRST_BATCH);
    const lost = rows.filter(({ text }) => (placeOfText(text)?.at ?? Infinity) <= until);
    await workOff(lost, this.#texts(this.#to(transitions.hint)), this.context);
  }

  #noteOffer(text: string): void {
    const place = placeOfText(text);
    if (!place || place.kind === 'addressed') return;
    const queue = `${place.kind}.${place.type}.${place.priority}`;
    const offer = { at: place.at, since: this.context.nodeClock.monotonic() };
    const known = this.#offers.get(queue);
    if (known) known.last = offer;
    else if (this.#offers.size < MOST_FOLLOWED) this.#offers.set(queue, { place, first: offer, last: offer });
  }

  async #hintLost(now: number): Promise<boolean> {
    let isMore = false;
    for (let place = await this.#nextQueue(ALL_OPEN.from, ALL_OPEN.to); place;) {
      const { type, priority } = place;
      const head = await this.#heads.look(place);
      const oldest = head === undefined ? undefined : placeOfText(head)?.at;
      const range = waitingRange(type, priority, Math.min(now, oldest ?? now) - UNHINTED);
      isMore = (await this.#each(range[0], range, this.#to(transitions.hint))) || isMore;
      place = await this.#nextQueue(`${range[0]}~`, ALL_OPEN.to);
    }
    await this.#heads.done();
    return isMore;
  }

  /** Type and priority of the first waiting task from there on. */
  async #nextQueue(from: string, to: string): Promise<WaitingPlace | undefined> {
    for (;;) {
      const first = await this.#gaps.first(from, to);
      const place = first === undefined ? undefined : placeOfText(first);
      if (first === undefined || place) return place;
      from = behindText(first);
    }
  }

  #each(kind: string, range: readonly [string, string], work: Work): Promise<boolean> {
    return this.#eachText(kind, range, this.#texts(work));
  }

  #texts(work: Work): TextWork {
    return (text) => work(decodeTask(text), text);
  }

  /**
   * Does `work` for the first rows of a range. If some of them stay, the next pass begins behind these rows: texts that
   * can't be read, because a newer version wrote them, must not keep the sweep from all others.
   *
   * @returns whether there may be more to do at once
   */
  async #eachText(kind: string, [from, to]: readonly [string, string], work: TextWork): Promise<boolean> {
    const limit = this.#limits.get(kind) ?? FIRST_BATCH;
    const begin = this.#begins.get(kind) ?? from;
    const first = await this.#gaps.first(begin, to);
    if (first !== undefined && !isLeft(this.#patience, first, this.#seen.get(kind))) {
      this.#seen.set(kind, first);
      this.#isPutOff = true;
      return false;
    }
    const rows = first === undefined ? [] : await this.store.paced.range(begin, to, limit, limit);
    const isFull = rows.length === limit;
    if (isFull) this.#limits.set(kind, Math.min(MOST_ROWS, batchAfter(rows.map(({ text }) => text))));
    else this.#limits.delete(kind);
    const { isMore, stay } = await workOff(rows, work, this.context);
    if (stay > 0 && isFull) this.#begins.set(kind, behindText(rows.at(-1)!.text));
    else this.#begins.delete(kind);
    return isMore || (isFull && rows.length > stay);
  }

  #to(change: (task: Task, stamp: Stamp) => Task, tell: (changed: Task) => void = () => undefined): Work {
    return async (task, text) => {
      const next = change(task, await this.store.stamp());
      const nextText = encodeTask(next);
      const { isWritten } = await this.store.texts.write(task.id, text, nextText);
      if (!isWritten) return;
      tell(next);
      if (next.state === 'waiting') this.#noteOffer(nextText);
      await this.store.settle(next, nextText);
    };
  }

  readonly #expired = this.#to(transitions.expire, ({ id, token, crashes, ending }) => {
    const outcome = ending?.outcome;
    this.context.events.next({ type: 'task-crashed', task: id, token, crashes, ...(outcome && { outcome }) });
  });

  async #lapsedClaims(range: readonly [string, string]): Promise<boolean> {
    const isMore = await this.#each('claimed', range, async (task, text) =>
      (await this.#lapsed.isOver(task)) ? this.#expired(task, text) : 'stays',
    );
    if (!this.#limits.has('claimed') && !this.#isPutOff) this.#lapsed.endRound();
    return isMore;
  }

  /** Cluster time would come to their ends only when it has caught up with the clock that stamped them. @param begun monotonic ms */
  async #claimsAhead(now: number, begun: number): Promise<boolean> {
    if (begun < this.#nextAhead) return false;
    const latest = now + this.context.timing.clockTolerance;
    const isMore = await this.#each('ahead', rangeFrom('claimed', now + LATE.ms), async (task, text) =>
      isStampedAhead(task, latest) && (await this.#ahead.isOver(task)) ? this.#expired(task, text) : 'stays',
    );
    if (this.#limits.has('ahead')) return isMore;
    this.#ahead.endRound();
    this.#nextAhead = begun + LATE.pause;
    return isMore;
  }

  async #forget(task: Task, text: string): Promise<void> {
    const { member } = task;
    const type = groupType(task.type);
    const reader = await this.#readerOf(task);
    if (member && reader === 'group') {
      // Its node may have died before it looked whether this was the last member.
      await this.store.settling.joinIfEnded(type, member, task);
    }
    return reader ? this.#keep(task, text) : this.#remove(task, text);
  }

  /** The reader for which an ended task stays. The group's handler reads the results of the members. */
  async #readerOf(task: Task): Promise<'group' | 'parent' | undefined> {
    const { member, sub } = task;
    const type = groupType(task.type);
    if (member && !(await this.store.groups.isOver(type, member))) return 'group';
    return sub && !(await this.store.parents.isOver(sub)) ? 'parent' : undefined;
  }

  async #remove(task: Task, text: string): Promise<void> {
    const { id, join, formerFamily } = task;
    await this.store.parents.removeFamily(task);
    if (formerFamily) await this.store.parents.remove(id, formerFamily);
    if (join) await this.store.groups.remove(groupType(task.type), join);
    // A late write may have made the tail of its queue again.
    if (task.queue !== undefined) await this.store.settling.tellEndOf(task, text);
    await this.store.texts.write(task.id, text, undefined);
  }

  async #keep(task: Task, text: string): Promise<void> {
    await this.store.texts.write(task.id, text, encodeTask(transitions.finish(task, await this.store.stamp())));
  }
}

/** @returns whether there is more to do for a text at once. `stays`: it is left as it is, and others must not wait for it */
type TextWork = (text: string) => Promise<boolean | void | 'stays'>;

/**
 * Does `work` for some texts. Those whose work fails are reported, and stay: the next pass finds them again.
 *
 * @returns whether there is more to do at once, and the number of texts that stay
 */
async function workOff(
  rows: readonly TextEntry[],
  work: TextWork,
  { nodeClock, events }: Pick<Context, 'nodeClock' | 'events'>,
): Promise<{ isMore: boolean; stay: number }> {
  const slices = Slices.of(nodeClock);
  const errors: unknown[] = [];
  let [isMore, stay] = [false, 0];
  await forEachLimit(rows, async ({ text }) => {
    try {
      await slices.turn(text.length);
      const done = await work(text);
      if (done === 'stays') stay++;
      else if (done) isMore = true;
    } catch (error) {
      errors.push(error);
      stay++;
    }
  });
  const action = `sweep ${errors.length} of ${rows.length} tasks`;
  if (errors.length > 0) events.next({ type: 'problem', action, error: errors[0] });
  return { isMore, stay };
}
