import type { Subscription } from 'rxjs';
import { isOwnName } from '../decision/index.js';
import type { RecordChange } from '../stores/index.js';
import type { Context } from '../context/context.js';
import { Caretaker } from './caretaker.js';
import { ClusterSweep, type SweepTurn } from './cluster-sweep.js';
import { KnownLook } from './known-look.js';
import type { StoredRecord } from './record-codec.js';
import type { RecordClient } from './record-client.js';
import type { SweptRecords } from './swept-records.js';

/**
 * Keeps this node's records of one kind up to date with other nodes' writes: by the store's watch, which is only a hint,
 * and by a look from time to time. The node whose turn it is also looks after the records that no living node knows.
 *
 * ```
 *   every sweepInterval ─▶ has this node the turn? ── yes ─▶ ClusterSweep: every record of the store, in pages
 *                                                  └─ no ──▶ KnownLook: what it holds or used, and some of the rest
 *   reconnection, a member came or went, a loss found ─────▶ KnownLook: all that this node knows, at once
 * ```
 *
 * No promise depends on who has the turn. A lost record is restored by a node that knew it: by its holders, by each node
 * that defines it, and, if it had permits or an operator's change, by the node that sweeps. Two sweeps at once do no harm,
 * nor does one that goes on after a freeze. Each write is a compare-and-set that decides anew from the present text. A
 * node ends a lease only by its own observations of it.
 */
export class Sweeper<R extends StoredRecord> {
  readonly #caretaker: Caretaker<R>;
  readonly #known: KnownLook<R>;
  readonly #cluster: ClusterSweep<R>;
  #endWatch?: () => Promise<void>;
  #losses?: Subscription;
  /** A look at everything known is under way. */
  #isLooking = false;
  /** Another one is wanted after it. */
  #isLookDue = false;

  constructor(
    private readonly records: SweptRecords<R>,
    private readonly turn: SweepTurn,
    private readonly context: Context,
  ) {
    this.#caretaker = new Caretaker(records, context);
    this.#known = new KnownLook(records, this.#caretaker, context);
    this.#cluster = new ClusterSweep(records, this.#caretaker, context);
  }

  /** Records that this node keeps in memory only because it sweeps. */
  get watched(): Iterable<RecordClient<R>> {
    return this.#cluster.watched;
  }

  async start(): Promise<void> {
    this.#losses = this.context.events.subscribe(({ type }) => {
      // The look at everything needs no other one because of what it restores itself.
      if (type === 'restored' && !this.#isLooking) this.#resynchronise();
    });
    this.#endWatch = await this.context.store.watch(this.records.keyPrefix, (change) => void this.#takeIn(change));
  }

  /** A sweep that is under way ends soon. */
  async stop(): Promise<void> {
    this.#caretaker.stop();
    this.#losses?.unsubscribe();
    await this.#endWatch?.();
  }

  /** @throws StoreUnavailableError */
  async sweep(): Promise<void> {
    if (!this.context.clusterClock.isFresh) await this.context.clusterClock.sample();
    if (await this.turn.take()) await this.#cluster.sweep(this.turn);
    else {
      this.#cluster.forget();
      await this.#known.look();
    }
    if (!this.#caretaker.isStopped) await this.records.swept();
  }

  async #takeIn({ key, text }: RecordChange): Promise<void> {
    // Without a key anything may have happened, as after a reconnection: also to the members' clocks and the data.
    if (key === undefined) return this.#resynchronise();
    const name = key.slice(this.records.keyPrefix.length);
    if (isOwnName(name)) return;
    const client = this.records.directory.find(name);
    if (!client) return this.records.unknown(name, text);
    try {
      // A record behind what is known was lost, or the news came late.
      if (text === undefined || !client.observe(text)) await client.look();
    } catch (error) {
      this.#caretaker.report(error, 'take in a change');
    }
  }

  /** Where one record was lost, others may be. One look at a time, and once more if it is asked for meanwhile. */
  #resynchronise(): void {
    this.#isLookDue = true;
    if (!this.#isLooking) void this.#lookWhileDue();
  }

  async #lookWhileDue(): Promise<void> {
    this.#isLooking = true;
    while (this.#isLookDue && !this.#caretaker.isStopped) {
      this.#isLookDue = false;
      await this.#lookAtAll();
    }
    this.#isLooking = false;
  }

  async #lookAtAll(): Promise<void> {
    try {
      await this.context.clusterClock.sample();
      await this.#known.lookAtAll();
      await this.records.swept();
    } catch (error) {
      this.#caretaker.report(error, 'take in a change');
    }
  }
}
