import { isOwnName } from '../decision/index.js';
import type { Context } from '../context/context.js';
import type { RecordMaintainer } from './record-maintainer.js';
import { recordPages } from './list-records.js';
import type { StoredRecord } from './record-codec.js';
import type { Cell } from './cell.js';
import type { SyncedRecords } from './synced-records.js';

/** Without the duty, a node forgets its watched records after so many sweeps. The new sweeper knows them by then. */
const PATIENCE = 6;

/** Decides which node sweeps. It saves work; no promise depends on it. */
export interface SweepDuty {
  /** Tries to get or keep the duty. @throws StoreUnavailableError */
  take(): Promise<boolean>;
  /** Whether this node has the duty, by its own clocks. False after a long freeze. */
  readonly isHeld: boolean;
}

/**
 * A duty for a node that must see every record from time to time, such as a node with an archive. It has the duty at
 * its first sweep and at every sixth sweep after that, even if another node sweeps.
 */
export function alsoNowAndThen(duty: SweepDuty): SweepDuty {
  let sweeps = 0;
  let isDue = false;
  return {
    async take() {
      isDue = sweeps++ % PATIENCE === 0;
      return (await duty.take()) || isDue;
    },
    get isHeld() {
      return isDue || duty.isHeld;
    },
  };
}

/**
 * Looks at every record of the store, page by page.
 *
 * If a record is not idle (it has a permit, a grace or an operator's change) and this node does not know it, this node
 * watches it: the cell stays in memory between sweeps. Its observations end the lease of a dead holder, and its copy
 * restores the record if the store loses it. For all other unknown records nothing stays in memory.
 */
export class ClusterSweep<R extends StoredRecord> {
  readonly #watched = new Map<string, Cell<R>>();
  #withoutDuty = 0;

  constructor(
    private readonly records: SyncedRecords<R>,
    private readonly maintainer: RecordMaintainer<R>,
    private readonly context: Context,
  ) {}

  get watched(): Iterable<Cell<R>> {
    return this.#watched.values();
  }

  /** Ends early when this node loses the duty. @throws StoreUnavailableError */
  async sweep(duty: SweepDuty): Promise<void> {
    this.#withoutDuty = 0;
    const seen = new Set<Cell<R>>();
    for await (const page of recordPages(this.context, this.records.keyPrefix)) {
      this.context.reachability.back();
      const mayGoOn = this.#untilLate(duty);
      for (const [key, text] of page) {
        await this.maintainer.turn();
        const cell = this.#cellOf(key.slice(this.records.keyPrefix.length), text);
        if (cell) seen.add(cell);
        // After a freeze the page is too old to be used.
        if (cell && mayGoOn()) await this.maintainer.examine(cell, text);
      }
      if (!duty.isHeld || this.maintainer.isStopped) return;
    }
    for (const cell of [...this.#watched.values(), ...this.records.directory.all()]) {
      if (!duty.isHeld || this.maintainer.isStopped) return;
      await this.maintainer.turn();
      if (!seen.has(cell)) await this.maintainer.examine(cell, undefined);
    }
  }

  /** Call this for each sweep without the duty. Forgets the watched records after {@link PATIENCE} calls. */
  forget(): void {
    if (++this.#withoutDuty >= PATIENCE) this.#watched.clear();
  }

  #untilLate(duty: SweepDuty): () => boolean {
    const { nodeClock, timing } = this.context;
    const readAt = nodeClock.monotonic();
    const isLate = () => nodeClock.monotonic() - readAt > timing.callTimeout;
    return () => duty.isHeld && !this.maintainer.isStopped && !isLate();
  }

  /**
   * @returns undefined for a record that needs no work: one of the package's own, or an idle one that is unknown here
   */
  #cellOf(name: string, text: string): Cell<R> | undefined {
    if (isOwnName(name)) return undefined;
    const known = this.records.directory.find(name);
    const watched = this.#watched.get(name);
    const isIdle = this.records.isIdle(name, text);
    if (known || isIdle) this.#watched.delete(name);
    if (known) return known;
    if (isIdle) return undefined;
    const cell = watched ?? this.records.open(name);
    this.#watched.set(name, cell);
    return cell;
  }
}
