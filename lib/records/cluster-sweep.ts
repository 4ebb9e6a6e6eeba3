import { isOwnName } from '../decision/index.js';
import type { Context } from '../context/context.js';
import type { Caretaker } from './caretaker.js';
import { recordPages } from './list-records.js';
import type { StoredRecord } from './record-codec.js';
import type { RecordClient } from './record-client.js';
import type { SweptRecords } from './swept-records.js';

/** Sweeps without the turn after which a node forgets what it watched: the next sweeper has seen it by then. */
const PATIENCE = 6;

/** Decides which node sweeps. It saves work; no promise depends on it. */
export interface SweepTurn {
  /** Tries to get or keep the turn. @throws StoreUnavailableError */
  take(): Promise<boolean>;
  /** By this node's own clocks: false after a freeze that was too long. */
  readonly isHeld: boolean;
}

/**
 * A turn for a node that has to see every record now and then, as one with an archive does: at its first sweep, and at
 * each sixth without the turn.
 */
export function alsoNowAndThen(turn: SweepTurn): SweepTurn {
  let sweeps = 0;
  let isDue = false;
  return {
    async take() {
      isDue = sweeps++ % PATIENCE === 0;
      return (await turn.take()) || isDue;
    },
    get isHeld() {
      return isDue || turn.isHeld;
    },
  };
}

/**
 * One node's look at every record of the store, page by page.
 *
 * Of the records that this node does not know it watches those that hold something: a client stays in memory from sweep to
 * sweep, as its observations end a dead holder's lease, and its copy restores the record if the store loses it. All
 * others leave nothing behind.
 */
export class ClusterSweep<R extends StoredRecord> {
  readonly #watched = new Map<string, RecordClient<R>>();
  #withoutTurn = 0;

  constructor(
    private readonly records: SweptRecords<R>,
    private readonly caretaker: Caretaker<R>,
    private readonly context: Context,
  ) {}

  get watched(): Iterable<RecordClient<R>> {
    return this.#watched.values();
  }

  /** Ends early when this node loses the turn. @throws StoreUnavailableError */
  async sweep(turn: SweepTurn): Promise<void> {
    this.#withoutTurn = 0;
    const seen = new Set<RecordClient<R>>();
    for await (const page of recordPages(this.context, this.records.keyPrefix)) {
      this.context.reachability.back();
      const mayGoOn = this.#untilLate(turn);
      for (const [key, text] of page) {
        await this.caretaker.turn();
        const client = this.#clientOf(key.slice(this.records.keyPrefix.length), text);
        if (client) seen.add(client);
        // After a freeze the page is old: what it says of a record is no news any more.
        if (client && mayGoOn()) await this.caretaker.examine(client, text);
      }
      if (!turn.isHeld || this.caretaker.isStopped) return;
    }
    for (const client of [...this.#watched.values(), ...this.records.directory.all()]) {
      if (!turn.isHeld || this.caretaker.isStopped) return;
      await this.caretaker.turn();
      if (!seen.has(client)) await this.caretaker.examine(client, undefined);
    }
  }

  /** This node has not got the turn. */
  forget(): void {
    if (++this.#withoutTurn >= PATIENCE) this.#watched.clear();
  }

  #untilLate(turn: SweepTurn): () => boolean {
    const { nodeClock, timing } = this.context;
    const readAt = nodeClock.monotonic();
    const isLate = () => nodeClock.monotonic() - readAt > timing.callTimeout;
    return () => turn.isHeld && !this.caretaker.isStopped && !isLate();
  }

  /** @returns undefined for a record that needs no care: the package's own, and one that nothing can happen to */
  #clientOf(name: string, text: string): RecordClient<R> | undefined {
    if (isOwnName(name)) return undefined;
    const known = this.records.directory.find(name);
    const watched = this.#watched.get(name);
    const isIdle = this.records.isIdle(name, text);
    if (known || isIdle) this.#watched.delete(name);
    if (known) return known;
    if (isIdle) return undefined;
    const client = watched ?? this.records.open(name);
    this.#watched.set(name, client);
    return client;
  }
}
