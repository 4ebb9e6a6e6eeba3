import { Deadline, DeadlinePassed } from '../../async/deadline.js';
import { inSlices, type Pieces } from '../../async/slices.js';
import type { Context } from '../../context/context.js';
import { show } from '../../decision/index.js';
import { eachInPieces } from '../each-in-pieces.js';
import type { Allocated, AllocationListener } from '../group-options.js';
import type { NodeShare } from './node-share.js';
import type { OwnerWork } from './owner-work.js';

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

/**
 * Calls the application after changes of the owned resources, one call at a time. It compares the resources that the
 * application knows with those that the node owns now. So several quick changes make one call.
 */
export class Delivery {
  readonly #listeners = new Set<AllocationListener>();
  /** Those that have had no call yet. */
  readonly #fresh = new Set<AllocationListener>();
  /** As the application knows them. */
  #known = new Map<string, Allocated>();
  #running: Promise<void> | undefined;
  #isDue = false;
  /** Whether everything was lost since the last call: also what this node owns again. */
  #hasLapsed = false;
  #isClosed = false;
  #onChange = () => {};
  /** Called by a change after which the application must give something back. */
  #onHandover = () => {};
  /** Lease that the last call was about. */
  #incarnation = '';

  constructor(private readonly parts: DeliveryParts) {}

  /** Calls `listener` for each change from now on. The first call has everything that the node owns. */
  on(listener: AllocationListener): void {
    this.#fresh.add(listener);
    if (this.parts.share.owned.size > 0) this.notify();
  }

  /** Call this after each change. */
  notify(): void {
    const { work, share } = this.parts;
    work.abort();
    if (!share.isHeld) this.#hasLapsed = true;
    this.#isDue = true;
    this.#onChange();
    if (this.#isHandover) this.#onHandover();
    this.#running ??= this.#run();
  }

  /** Whether the application has, or may have, something that it must give back. */
  get #isHandover(): boolean {
    const { incarnation, ending } = this.parts.share;
    return this.#isClosed || this.#hasLapsed || ending.length > 0 || incarnation !== this.#incarnation;
  }

  /** Takes everything from the application, and waits until it has given it back. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.parts.share.giveUp();
    this.notify();
    await this.#running;
  }

  async #run(): Promise<void> {
    try {
      while (this.#isDue) {
        this.#isDue = this.#hasLapsed && !this.#isClosed;
        await this.#deliver();
      }
    } finally {
      // In the turn of the last look: a change after it must begin a new run.
      this.#running = undefined;
    }
  }

  async #deliver(): Promise<void> {
    const { share, context } = this.parts;
    await this.#learn();
    // In one turn: the lease may have lapsed meanwhile.
    const { incarnation, ending } = share;
    const owned = this.#hasLapsed || this.#isClosed ? new Map<string, number>() : share.owned;
    this.#hasLapsed = false;
    this.#incarnation = incarnation;
    const difference = await inSlices(this.#compare(owned), context.nodeClock);
    this.#known = difference.owned;
    const [added, revoked] = [difference.added.length, difference.revoked.length];
    const isChanged = added + revoked > 0;
    if (isChanged) {
      const { group } = this.parts;
      context.events.next({ type: 'resources-changed', group, added, revoked, owned: difference.owned.size });
    }
    await this.#call(isChanged, difference);
    if (ending.length === 0) return;
    share.end(incarnation, ending);
    this.parts.onGivenBack();
  }

  /** Reads the resources if this node got one that it does not know. What must be given back does not wait for that. */
  async #learn(): Promise<void> {
    const { share, resourceOf, readResources, context } = this.parts;
    if (this.#isClosed || share.ending.length > 0) return;
    const { owned } = share;
    let isStrange = false;
    const look = eachInPieces(owned.keys(), (id) => {
      isStrange ||= !this.#known.has(id) && resourceOf(id) === undefined;
    });
    await inSlices(look, context.nodeClock);
    if (isStrange) await Promise.race([readResources(), this.#changed()]);
  }

  /** Resolves at the next change. */
  #changed(): Promise<void> {
    return new Promise((resolve) => (this.#onChange = resolve));
  }

  *#compare(target: ReadonlyMap<string, number>): Pieces<Difference> {
    const owned = new Map<string, Allocated>();
    const added: Allocated[] = [];
    const revoked: Allocated[] = [];
    yield* eachInPieces(target, ([id, token]) => {
      const known = this.#known.get(id);
      const allocated = { id, token, resource: this.parts.resourceOf(id) ?? known?.resource };
      owned.set(id, allocated);
      if (known?.token !== token) added.push(allocated);
    });
    yield* eachInPieces(this.#known.values(), (known) => void (target.has(known.id) || revoked.push(known)));
    return { owned, added, revoked };
  }

  /**
   * Waits for the callbacks and the work on revoked resources. The time is limited from the moment at which something must
   * be given back: until then no other node waits for it. Never rejects.
   */
  async #call(isChanged: boolean, { owned, added, revoked }: Difference): Promise<void> {
    const { work, context, timeout, group } = this.parts;
    const ending = new AbortController();
    const { signal } = ending;
    const all = [...owned.values()];
    const known = isChanged ? [...this.#listeners] : [];
    const fresh = all.length > 0 ? [...this.#fresh] : [];
    const calls = [
      ...known.map(async (listener) => listener(all, { added, revoked, signal })),
      ...fresh.map(async (listener) => listener(all, { added: all, revoked: [], signal })),
    ];
    for (const listener of fresh) {
      this.#fresh.delete(listener);
      this.#listeners.add(listener);
    }
    const guarded = calls.map((call) => call.catch((error: unknown) => this.#problem('run onAllocated', error)));
    // Work that is aborted later has its own time.
    const aborted = work.aborted;
    const ended = Promise.all([...guarded, ...aborted.map(({ done }) => done)]);
    if (revoked.length + aborted.length === 0 && !this.#isHandover) await Promise.race([ended, this.#handover()]);
    await new Deadline(context.timers, timeout).race(ended).catch((error: unknown) => {
      if (!(error instanceof DeadlinePassed)) throw error;
      const late = new Error(
        `onAllocated, or work on revoked resources, of group ${show(group)} took longer than ${timeout} ms: other nodes may own them now`,
      );
      ending.abort(late);
      work.forget(aborted);
      this.#problem('give resources back', late);
    });
  }

  /** Resolves at the next change after which something must be given back. */
  #handover(): Promise<void> {
    return new Promise((resolve) => (this.#onHandover = resolve));
  }

  #problem(action: string, error: unknown): void {
    this.parts.context.events.next({ type: 'problem', semaphore: `allocation:${this.parts.group}`, action, error });
  }
}
