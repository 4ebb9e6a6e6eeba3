import { Subject } from 'rxjs';
import { CorruptRecordError, type SemaphoreDefinition, createRecord, parseDefinition } from '../decision/index.js';
import { LONGEST_DURATION } from '../decision/duration.js';
import type { Context } from '../context/context.js';
import { Reachability } from '../context/reachability.js';
import { UseCount } from '../async/use-count.js';
import { type OwnRecordClient, semaphoreClient } from '../records/semaphore-records.js';
import type { SweepTurn } from '../records/cluster-sweep.js';
import { NoQuorumError, StoreUnavailableError } from '../stores/index.js';
import { HeldLeases } from './held-leases.js';
import type { HeldPermit } from './held-permit.js';
import { OrphanCleanup } from './orphan-cleanup.js';

const NAME = 'gatekeeper:sweep';
/** A sweeper that dies is followed within so many of its intervals; one that misses a single sweep keeps the turn. */
const INTERVALS = 2.5;
/** ms */
const SHORTEST = 5000;

/**
 * The turn to sweep, as a permit of the package's own semaphore: each sweep refreshes it, and it runs out with a node that
 * dies. It reports no events: to users it does not exist.
 *
 * Its record is made where it is missing, without delay or grace: two sweepers at once harm nothing.
 */
export class SweepPermit implements SweepTurn {
  readonly #client: OwnRecordClient;
  readonly #definition: SemaphoreDefinition;
  readonly #leases: HeldLeases;
  #permit?: HeldPermit;
  /** The record can't be read: each node sweeps. */
  #isOpen = false;

  /** @param interval ms between two sweeps of this node */
  constructor(
    private readonly context: Context,
    interval: number,
  ) {
    const events: Context['events'] = new Subject();
    const reachability = new Reachability(events, context.nodeClock, 0);
    const silent: Context = { ...context, events, reachability, changes: new Subject() };
    const shortest = SHORTEST + 2 * context.timing.clockTolerance;
    const duration = Math.min(LONGEST_DURATION, Math.max(shortest, Math.ceil(INTERVALS * interval)));
    this.#definition = parseDefinition({ name: NAME, duration }, context.timing.clockTolerance);
    this.#client = semaphoreClient(NAME, silent);
    const uses = new UseCount(() => undefined);
    this.#leases = new HeldLeases(this.#client, new OrphanCleanup(this.#client, uses, silent), uses, silent);
  }

  get isHeld(): boolean {
    return this.#isOpen || (this.#permit?.isHeld ?? false);
  }

  /** @throws StoreUnavailableError */
  async take(): Promise<boolean> {
    await this.#ensureRecord();
    const attempt = await this.#leases.attempt({ duration: this.#definition.duration });
    if (!attempt.permit) {
      const { error } = attempt;
      if (error instanceof StoreUnavailableError && !(error instanceof NoQuorumError)) throw withoutName(error);
      if (!error) this.context.reachability.back();
      // A foreign program wrote over the record: dead nodes' permits must be freed all the same.
      this.#isOpen = error instanceof CorruptRecordError;
      return this.#isOpen;
    }
    this.#isOpen = false;
    const former = this.#permit;
    this.#permit = attempt.permit;
    // The lease goes on with the newer use.
    await former?.release();
    return this.isHeld;
  }

  /** Makes the record at the first turn. A record that was there and is lost comes back as each other one. */
  async #ensureRecord(): Promise<void> {
    if (this.#client.known) return;
    const making = this.#client.transact<void>((record, view, nonce) =>
      record
        ? { result: undefined }
        : { notify: 'none', write: createRecord(this.#definition, view.now, nonce), done: () => undefined },
    );
    // The attempt that follows meets the same error, and says whose turn it is.
    await making.catch(() => undefined);
  }

  /** Another node may sweep at once. */
  async close(): Promise<void> {
    // If the store can't be asked, the permit expires, and the next sweep of another node takes over.
    await this.#permit?.release().catch(() => undefined);
    await this.#leases.close();
  }
}

/** The store's own errors as they are; those that name the semaphore, which users don't know, in other words. */
function withoutName(error: StoreUnavailableError): StoreUnavailableError {
  if (!error.message.includes(NAME)) return error;
  return new StoreUnavailableError('the store gave no clear answer whose turn it is to sweep', { cause: error });
}
