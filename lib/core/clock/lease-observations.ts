import type { Expiring } from '../decision/permit.js';

/** Times at which a node saw one lease, in its own monotonic ms. */
interface LeaseObservation {
  /**
   * `expiresAt`, `duration` and `nonce` distinguish this lease from earlier leases of the same permit. A refresh makes a
   * new lease, which ends later than the one before. If the store lost that one, it may end at the same time: then its
   * end does not follow from the clock, and it has a nonce.
   */
  readonly expiresAt: number;
  readonly duration: number;
  readonly nonce: string | undefined;
  /** The last time at which the record was seen without this lease. The lease was written after that. */
  readonly lastSeenWithout: number;
  /** The first time at which the lease was seen. It was written before that. */
  readonly firstSeenWith: number;
}

const NONE: readonly Expiring[] = [];

/** Bounds of the end of a lease, in ms of the node's own monotonic clock. */
export interface LeaseEnd {
  /** The lease is surely alive until then. See {@link LeaseObservations}. */
  readonly notBefore: number;
  /** The lease is surely expired from then on. The tolerance is included. */
  readonly notAfter: number;
  readonly firstSeen: number;
}

/**
 * Bounds the end of each lease of one record in time of this node's own monotonic clock, from two observations:
 *
 *     lastSeenWithout   firstSeenWith
 *           |---- written ----|
 *           |                 |
 *           |<------ duration ------>|
 *           |                 |<------ duration + tolerance ------>|
 *                                    |                             |
 *     --------- surely alive --------|---- cluster time decides ---|---- surely expired --->
 *                                notBefore                      notAfter
 *
 * Surely alive: the lease was written after `lastSeenWithout`. So a cluster clock that jumps ahead can't end it early.
 * Surely expired: the lease was written before `firstSeenWith`, and its holder counts from before the write.
 * Kubernetes' leader election uses only this bound.
 *
 * Assumption: within one duration, the monotonic clocks of two nodes drift apart by less than the tolerance. A record
 * that is seen late only moves the bounds to the safe side.
 */
export class LeaseObservations {
  #observations = new Map<string, LeaseObservation>();
  #lastObserved = -Infinity;

  /** @param tolerance the largest difference of clocks, in ms */
  constructor(private readonly tolerance: number) {}

  /**
   * Notes a look at the record at `at` (monotonic ms).
   *
   * @param begun leases that the record has, without those that it had at the last look, or with some of them
   * @param gone leases that it had at the last look, without those that it still has, or with those among `begun`
   */
  observe(begun: readonly Expiring[], at: number, gone: readonly Expiring[] = NONE): void {
    // Looked up before anything is forgotten, because a lease may be in both lists.
    const observed = begun.map((lease) => this.#known(lease) ?? this.#first(lease, at));
    if (gone.length > 0) this.#forget(gone);
    for (let index = 0; index < begun.length; index++) this.#observations.set(begun[index]!.id, observed[index]!);
    this.#lastObserved = at;
  }

  /** @returns undefined for a lease that this node did not see */
  endOf(lease: Expiring): LeaseEnd | undefined {
    const seen = this.#known(lease);
    if (!seen) return undefined;
    const { lastSeenWithout, firstSeenWith: firstSeen } = seen;
    const { duration } = lease;
    return { notBefore: lastSeenWithout + duration, notAfter: firstSeen + duration + this.tolerance, firstSeen };
  }

  /** A map that is filled and emptied all the time would leave dead tables in old space: see `Timers`. */
  #forget(gone: readonly Expiring[]): void {
    for (const { id } of gone) this.#observations.delete(id);
    if (this.#observations.size === 0) this.#observations = new Map();
  }

  #first({ expiresAt, duration, nonce }: Expiring, at: number): LeaseObservation {
    return { expiresAt, duration, nonce, lastSeenWithout: this.#lastObserved, firstSeenWith: at };
  }

  #known({ id, expiresAt, duration, nonce }: Expiring): LeaseObservation | undefined {
    const seen = this.#observations.get(id);
    return seen?.expiresAt === expiresAt && seen.duration === duration && seen.nonce === nonce ? seen : undefined;
  }
}
