import { type Pieces, inSlices } from '../../async/slices.js';
import type { Context } from '../../context/context.js';
import { eachInPieces } from '../each-in-pieces.js';
import { resourcesIn } from '../map/page.js';
import type { Orders } from '../orders/orders.js';
import type { KnownPages } from '../round/owner-map.js';
import type { MasterSet } from './master-set.js';
import { type MasterSetState, type NodeSet, differingSets, failReading, takeReading } from './master-set-state.js';
import type { Reading, ResourceReader } from './resource-reader.js';

interface LeaderResourcesParts {
  readonly context: Context;
  readonly reader: ResourceReader;
  readonly orders: Orders;
}

/** The resources that count: those of the leader, over several readings. See {@link takeReading}. */
export class LeaderResources {
  #state: MasterSetState = {};
  #taken: Reading | undefined;
  #asked = 0;
  /** Monotonic ms at which the present ones were taken. */
  #since = 0;

  constructor(private readonly parts: LeaderResourcesParts) {}

  /** In ascending order; undefined before the first valid reading. */
  get ids(): readonly string[] | undefined {
    return this.#state.current?.ids;
  }

  /** Why the last reading does not count, in a sentence. */
  get problem(): string | undefined {
    return this.#state.problem;
  }

  /** Whether there is a reading that {@link update} has not taken. */
  get isStale(): boolean {
    return this.parts.reader.last !== undefined && this.parts.reader.last !== this.#taken;
  }

  /** Call this when a term begins: a node that did not lead has not compared its readings with the owner map. */
  reset(): void {
    this.#state = {};
    this.#taken = undefined;
    this.#asked = this.parts.orders.asked;
  }

  /** Takes over the last reading. Reads first if there is none, or if a node has asked for it. */
  async update({ owned: pages }: KnownPages, closing: AbortSignal): Promise<void> {
    const { reader, orders, context } = this.parts;
    const isAsked = this.#asked !== orders.asked;
    this.#asked = orders.asked;
    const reading = isAsked || !reader.last ? await untilAborted(reader.read(), closing) : reader.last;
    if (!reading || reading === this.#taken) return;
    this.#taken = reading;
    const former = this.#state.current?.digest;
    if ('error' in reading) this.#state = failReading(this.#state, reading.error);
    else {
      this.#state = await inSlices(this.#stateAfter(reading.set, pages), context.nodeClock);
    }
    if (this.#state.current?.digest !== former) this.#since = context.nodeClock.monotonic();
  }

  *#stateAfter(set: MasterSet, pages: KnownPages['owned']): Pieces<MasterSetState> {
    const owned: string[] = [];
    // Only a node that has not read the set before needs them.
    if (!this.#state.current) yield* eachInPieces(resourcesIn(pages.values()), ([id]) => void owned.push(id));
    return yield* takeReading(this.#state, set, owned);
  }

  /**
   * Warnings about nodes that read other resources.
   *
   * @param patience ms in which every node has read and published the present ones
   */
  warnings(nodes: readonly NodeSet[], patience: number): string[] {
    const { current } = this.#state;
    const age = this.parts.context.nodeClock.monotonic() - this.#since;
    return current && age > patience ? differingSets(current, nodes) : [];
  }
}

/** The application's function may hang, and this node must close nevertheless. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve) => {
    const end = () => resolve(undefined);
    if (signal.aborted) end();
    signal.addEventListener('abort', end, { once: true });
    void promise.then(resolve).finally(() => signal.removeEventListener('abort', end));
  });
}
