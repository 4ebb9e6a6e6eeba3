import type { CancelTimer } from '../../core/async/node-clock.js';
import { Deadline, DeadlinePassed } from '../../core/async/deadline.js';
import { eachInPieces, inSlices, type Pieces } from '../../core/async/slices.js';
import type { Context } from '../../core/context/context.js';
import { show } from '../../core/decision/index.js';
import type { Allocated, AllocationListener } from '../group-options.js';
import type { Ending } from './belief.js';
import type { NodeShare } from './node-share.js';
import type { OwnerWork, Running } from './owner-work.js';

interface DeliveryParts {
  readonly group: string;
  readonly share: NodeShare;
  readonly work: OwnerWork;
  readonly context: Context;
  /** ms */
  readonly timeout: number;
  readonly resourceOf: (id: string) => unknown;
  /** Reads the resources, because this node got one that it does not know. */
  readonly readResources: () => Promise<unknown>;
  /** Called when this node has given resources back. */
  readonly onGivenBack: () => void;
}

interface Difference {
  readonly owned: Map<string, Allocated>;
  readonly added: Allocated[];
  readonly revoked: Allocated[];
}

/** A demand to give resources back. */
interface Demand {
  /** Monotonic ms from which its time counts. */
  readonly at: number;
  readonly change: number;
}

/** One call of a listener. */
interface Call {
  /** In the node's monotonic ms. */
  readonly since: number;
  readonly ending: AbortController;
  /** Whether it has taken too long for something that waits for it. */
  isLate: boolean;
  /** Ends the timer that began with the first change that waits for it. */
  cancel?: CancelTimer;
}

/** A listener, and what it knows. Its calls follow one another, however long each of them takes. */
interface Told {
  readonly listener: AllocationListener;
  known: Map<string, Allocated>;
  /** The last change that it has heard of, as a number. */
  heard: number;
  /** Everything was lost since its last call, also what this node owns again. */
  hasLapsed: boolean;
  /** It heard that everything was lost, and not yet what this node owns again. */
  isBehind: boolean;
  call?: Call | undefined;
  /** Until it has heard of all changes. */
  running?: Promise<void> | undefined;
  /** Until it has heard of the next ones. */
  hearing?: Promise<void>;
}

const NOTHING: ReadonlyMap<string, number> = new Map();

/**
 * Calls the application after changes of the owned resources. Each listener gets one call at a time: the resources that it
 * knows are compared with those that the node owns now. So several quick changes make one call, and so do all that come
 * while a call goes on.
 *
 *     revoked at t ──▶ the running call ends, the next one tells of it, its work ends ──▶ given back
 *              └────── t + handoverTimeout: signals abort, a problem event ────────────▶ given back
 *
 * A call that goes on after that keeps only its own listener from hearing more. That is a {@link fault}, and the next call
 * tells everything when it ends.
 */
export class Delivery {
  readonly #told: Told[] = [];
  /** Number of changes. */
  #changes = 0;
  #nextChange = openEnd();
  #isClosed = false;
  /** No listener is called any more. */
  #isOver = false;
  /** Everything was lost, and that is not being handed over yet. */
  #loss: Demand | undefined;
  /** When this node saw resources taken away. */
  readonly #demands = new WeakMap<Ending['resources'], Demand>();
  #handingOver: Promise<void> | undefined;
  /** Lease that the last change was about. */
  #incarnation = '';
  /** The last comparison. Listeners that know the same get the same. */
  #compared?: {
    readonly known: Map<string, Allocated>;
    readonly target: ReadonlyMap<string, number>;
    readonly difference: Promise<Difference>;
  };

  constructor(private readonly parts: DeliveryParts) {
    const { group, context } = parts;
    this.#add((owned, { added, revoked }) => {
      const counts = { added: added.length, revoked: revoked.length, owned: owned.length };
      context.events.next({ type: 'resources-changed', group, ...counts });
    });
  }

  /** Calls `listener` for each change from now on. The first call has everything that the node owns. */
  on(listener: AllocationListener): void {
    this.#add(listener);
    if (this.parts.share.owned.size > 0) this.notify();
  }

  #add(listener: AllocationListener): void {
    this.#told.push({ listener, known: new Map(), heard: 0, hasLapsed: false, isBehind: false });
  }

  /** Which callback has taken too long while changes wait for it, in a sentence. */
  get fault(): string | undefined {
    const late = this.#told.find(({ call }) => call?.isLate);
    return late && this.#lateness(late, late.call!);
  }

  /** Call this after each change. */
  notify(): void {
    const { work, share, context } = this.parts;
    const now = context.nodeClock.monotonic();
    this.#changes++;
    work.abort(this.#changes);
    // No listener hears of it any more, and a handover would wait for that.
    if (this.#isOver) return;
    const isOtherLease = this.#incarnation !== '' && share.incarnation !== this.#incarnation;
    this.#incarnation = share.incarnation;
    if (!share.isHeld || isOtherLease) this.#lose(now);
    const demand = { at: now, change: this.#changes };
    for (const { resources } of share.ending) if (!this.#demands.has(resources)) this.#demands.set(resources, demand);
    this.#nextChange.end();
    this.#nextChange = openEnd();
    for (const told of this.#told) {
      if (told.call && !this.#mustGiveBack) this.#limit(told, told.call);
      told.running ??= this.#follow(told);
    }
    if (!this.#mustGiveBack || this.#handingOver) return;
    this.#handingOver = this.#handOver();
    // Only close() waits for it, and #follow has reported the error.
    this.#handingOver.catch(() => undefined);
  }

  /** Takes everything from the application, and waits until it has given it back. */
  async close(): Promise<void> {
    const { share, context } = this.parts;
    this.#isClosed = true;
    // Its time counts from now, also if the lease lapsed before: work may have begun under the next one.
    this.#loss = { at: context.nodeClock.monotonic(), change: this.#changes + 1 };
    share.giveUp();
    this.notify();
    await this.#handingOver;
    this.#isOver = true;
    for (const { call } of this.#told) call?.cancel?.();
  }

  #lose(now: number): void {
    this.#loss ??= { at: now, change: this.#changes };
    for (const told of this.#told) told.hasLapsed = true;
  }

  /** Whether the application has, or may have, something that it must give back. */
  get #mustGiveBack(): boolean {
    return this.#loss !== undefined || this.parts.share.ending.length > 0;
  }

  async #follow(told: Told): Promise<void> {
    try {
      while ((told.heard < this.#changes || told.isBehind) && !this.#isOver) {
        told.hearing = this.#tell(told);
        await told.hearing;
      }
    } catch (error) {
      this.#problem('tell the application of its resources', error);
    } finally {
      // In the turn of the last look: a change after it must begin a new run.
      told.running = undefined;
    }
  }

  async #tell(told: Told): Promise<void> {
    await this.#learn(told);
    // In one turn: the lease may have lapsed meanwhile.
    const { hasLapsed } = told;
    const changes = this.#changes;
    told.hasLapsed = false;
    const difference = await this.#compare(told.known, hasLapsed || this.#isClosed ? NOTHING : this.parts.share.owned);
    told.known = difference.owned;
    if (difference.added.length + difference.revoked.length > 0) await this.#call(told, difference);
    told.heard = changes;
    told.isBehind = hasLapsed && !this.#isClosed;
  }

  /** Reads the resources if this node got one that it does not know. What must be given back does not wait for that. */
  async #learn({ known }: Told): Promise<void> {
    const { share, resourceOf, readResources, context } = this.parts;
    if (this.#mustGiveBack) return;
    const { owned } = share;
    let isStrange = false;
    const look = eachInPieces(owned.keys(), (id) => {
      isStrange ||= !known.has(id) && resourceOf(id) === undefined;
    });
    await inSlices(look, context.nodeClock);
    if (isStrange) await Promise.race([readResources(), this.#nextChange.promise]);
  }

  #compare(known: Map<string, Allocated>, target: ReadonlyMap<string, number>): Promise<Difference> {
    const { nodeClock } = this.parts.context;
    if (this.#compared?.known !== known || this.#compared.target !== target) {
      this.#compared = { known, target, difference: inSlices(this.#difference(known, target), nodeClock) };
    }
    return this.#compared.difference;
  }

  *#difference(before: Map<string, Allocated>, target: ReadonlyMap<string, number>): Pieces<Difference> {
    const owned = new Map<string, Allocated>();
    const added: Allocated[] = [];
    const revoked: Allocated[] = [];
    yield* eachInPieces(target, ([id, token]) => {
      const known = before.get(id);
      const allocated = { id, token, resource: this.parts.resourceOf(id) ?? known?.resource };
      owned.set(id, allocated);
      if (known?.token !== token) added.push(allocated);
    });
    yield* eachInPieces(before.values(), (known) => void (target.has(known.id) || revoked.push(known)));
    return { owned, added, revoked };
  }

  /** Waits for the callback, without a limit: the handover has one. Never rejects. */
  async #call(told: Told, { owned, added, revoked }: Difference): Promise<void> {
    const call: Call = {
      since: this.parts.context.nodeClock.monotonic(),
      ending: new AbortController(),
      isLate: false,
    };
    told.call = call;
    try {
      await told.listener([...owned.values()], {
        added: [...added],
        revoked: [...revoked],
        signal: call.ending.signal,
      });
    } catch (error) {
      this.#problem('run onAllocated', error);
    }
    told.call = undefined;
    call.cancel?.();
  }

  /** Reports a call for which changes have waited for too long. It goes on: no other node waits for it. */
  #limit(told: Told, call: Call): void {
    const { nodeClock } = this.parts.context;
    call.cancel ??= nodeClock.schedule(
      () => {
        if (call.isLate || this.#isOver) return;
        call.isLate = true;
        this.#problem('run onAllocated', new Error(this.#lateness(told, call)));
      },
      this.parts.timeout,
      false,
    );
  }

  #lateness({ known }: Told, { since }: Call): string {
    const { group, context, share } = this.parts;
    let untold = 0;
    for (const [id, token] of share.owned) if (known.get(id)?.token !== token) untold++;
    const seconds = Math.round((context.nodeClock.monotonic() - since) / 1000);
    return `onAllocated of group ${show(group)} has not ended for ${seconds} s: until then it hears of no change, and ${untold} resources that this node owns wait for it`;
  }

  /**
   * Gives back what was taken away when listeners and work have ended. The time is limited, once, from the moment at which
   * it must be given back: until then no other node waits for it. Each revocation has a time of its own, because another
   * one that came long before must not shorten it.
   */
  async #handOver(): Promise<void> {
    const { share, work, context, timeout, onGivenBack } = this.parts;
    let loss: Demand | undefined;
    try {
      while (this.#mustGiveBack || loss) {
        // In one turn.
        const { incarnation, ending } = share;
        const { aborted } = work;
        loss = this.#loss ?? loss;
        this.#loss = undefined;
        const first = earliestOf([...(loss ? [loss] : []), ...ending.map((each) => this.#demandOf(each))]);
        const ended = Promise.all([
          ...this.#told.map((told) => this.#untilHeard(told, this.#changes)),
          // Work that is aborted later has its own time.
          ...aborted.map(({ done }) => done),
        ]);
        const left = first.at + timeout - context.nodeClock.monotonic();
        const isInTime = await this.#isEndedWithin(Math.max(0, left), ended);
        const isOver = (demand: Demand) => isInTime || demand.at <= first.at;
        if (!isInTime) this.#giveUpOn(first, aborted);
        if (loss && isOver(loss)) loss = undefined;
        const over = ending.filter((each) => isOver(this.#demandOf(each)));
        if (over.length === 0) continue;
        share.end(incarnation, over);
        onGivenBack();
      }
    } finally {
      this.#handingOver = undefined;
    }
  }

  #demandOf({ resources }: Ending): Demand {
    const known = this.#demands.get(resources);
    if (known) return known;
    // Its notification is on the way.
    const demand = { at: this.parts.context.nodeClock.monotonic(), change: this.#changes + 1 };
    this.#demands.set(resources, demand);
    return demand;
  }

  async #isEndedWithin(ms: number, ended: Promise<unknown>): Promise<boolean> {
    try {
      await new Deadline(this.parts.context.timers, ms).race(ended);
      return true;
    } catch (error) {
      if (!(error instanceof DeadlinePassed)) throw error;
      return false;
    }
  }

  async #untilHeard(told: Told, changes: number): Promise<void> {
    while (told.heard < changes && told.running) await told.hearing;
  }

  /** Other nodes may own the resources from now on. Work and calls for later revocations keep their time. */
  #giveUpOn({ change }: Demand, aborted: readonly Running[]): void {
    const { group, timeout, work } = this.parts;
    const late = new Error(
      `onAllocated, or work on revoked resources, of group ${show(group)} took longer than ${timeout} ms: other nodes may own them now`,
    );
    for (const { call, heard } of this.#told) {
      if (!call || heard >= change) continue;
      call.isLate = true;
      call.ending.abort(late);
    }
    work.forget(aborted.filter(({ abortedBy = Infinity }) => abortedBy <= change));
    this.#problem('give resources back', late);
  }

  #problem(action: string, error: unknown): void {
    this.parts.context.events.next({ type: 'problem', semaphore: `allocation:${this.parts.group}`, action, error });
  }
}

function earliestOf(demands: readonly Demand[]): Demand {
  return demands.reduce((one, other) => (other.at < one.at ? other : one));
}

function openEnd() {
  let end = () => {};
  const promise = new Promise<void>((resolve) => (end = resolve));
  return { promise, end };
}
