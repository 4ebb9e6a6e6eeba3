import { Subject } from 'rxjs';
import { CorruptRecordError, type SemaphoreDefinition, createRecord, parseDefinition } from '../decision/index.js';
import { LONGEST_DURATION } from '../decision/duration.js';
import type { Context } from '../context/context.js';
import { Reachability } from '../context/reachability.js';
import { Recoveries } from '../context/recoveries.js';
import { UseCount } from '../async/use-count.js';
import { type DedicatedCell, semaphoreCell } from '../cell/semaphore-records.js';
import type { SweepDuty } from '../cell/cluster-sweep.js';
import { NoQuorumError, StoreUnavailableError } from '../store/index.js';
import { HeldLeases } from './held-leases.js';
import type { HeldPermit } from './held-permit.js';

const RECORDS = 'gatekeeper:sweep';
/**
 * Duration of the permit in sweep intervals. If a sweeper dies, another node follows; one missed sweep is tolerated.
 */
const INTERVALS = 2.5;
/** ms */
const SHORTEST = 5000;

/**
 * The duty to sweep, as a permit of one of the package's own semaphores. Each sweep refreshes the permit. If the node
 * dies, the permit expires. This class reports no events, because the semaphore is hidden from users.
 *
 * If the record is missing, it is created without delay and without grace, because two sweepers at once do no harm.
 */
export class SweepPermit implements SweepDuty {
  readonly #cell: DedicatedCell;
  readonly #definition: SemaphoreDefinition;
  readonly #leases: HeldLeases;
  #permit?: HeldPermit;
  /** Whether the record is corrupt. Then every node sweeps. */
  #isOpen = false;

  /**
   * @param interval ms between two sweeps of this node
   * @param name of the semaphore: one per kind of sweep
   * @param permits nodes that may have a permit at the same time
   */
  constructor(
    private readonly context: Context,
    interval: number,
    private readonly name = RECORDS,
    permits = 1,
  ) {
    const events: Context['events'] = new Subject();
    const reachability = new Reachability(events, context.nodeClock, 0);
    const recoveries = new Recoveries(context.nodeClock);
    const silent: Context = { ...context, events, reachability, recoveries, changes: new Subject() };
    const shortest = SHORTEST + 2 * context.timing.clockTolerance;
    const duration = Math.min(LONGEST_DURATION, Math.max(shortest, Math.ceil(INTERVALS * interval)));
    this.#definition = parseDefinition({ name, permits, duration }, context.timing.clockTolerance);
    this.#cell = semaphoreCell(name, silent);
    this.#leases = new HeldLeases(this.#cell, new UseCount(() => undefined), silent);
  }

  get isHeld(): boolean {
    return this.#isOpen || (this.#permit?.isHeld ?? false);
  }

  /** From 0, another one on each node that has a permit; undefined on those without, and on all if the record is corrupt. */
  get slot(): number | undefined {
    return this.#permit?.isHeld ? this.#permit.slot : undefined;
  }

  /** @throws StoreUnavailableError */
  async take(): Promise<boolean> {
    await this.#ensureRecord();
    const attempt = await this.#leases.tryOnce({ duration: this.#definition.duration });
    if (!attempt.permit) {
      const { error } = attempt;
      if (error instanceof StoreUnavailableError && !(error instanceof NoQuorumError)) throw this.#withoutName(error);
      if (!error) this.context.reachability.back();
      // A foreign program overwrote the record. Dead nodes' permits must still be freed, so every node sweeps.
      this.#isOpen = error instanceof CorruptRecordError;
      return this.#isOpen;
    }
    this.#isOpen = false;
    const former = this.#permit;
    this.#permit = attempt.permit;
    // `isHeld` reads it before each use, and an idle node should not wake up for it.
    this.#permit.lease.unwatch();
    // The lease continues with the newer use.
    await former?.release();
    return this.isHeld;
  }

  /** Creates the record before the first sweep. If it is lost later, it is restored like any other record. */
  async #ensureRecord(): Promise<void> {
    if (this.#cell.known) return;
    const making = this.#cell.transact<void>((record, view, nonce) =>
      record
        ? { result: undefined }
        : { notify: 'none', write: createRecord(this.#definition, view.now, nonce), done: () => undefined },
    );
    // The attempt that follows gets the same error and handles it.
    await making.catch(() => undefined);
  }

  /** Releases the permit, so that another node may sweep at once. */
  async close(): Promise<void> {
    // If the store can't be asked, the permit expires, and another node takes over at its next sweep.
    await this.#permit?.release().catch(() => undefined);
    await this.#leases.close();
  }

  /** Rewords an error that contains the name of the semaphore, because users don't know it. */
  #withoutName(error: StoreUnavailableError): StoreUnavailableError {
    if (!error.message.includes(this.name)) return error;
    return new StoreUnavailableError('the store gave no clear answer about which node sweeps', { cause: error });
  }
}
