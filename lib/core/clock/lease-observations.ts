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

const NONE: ReadonlyMap<string, LeaseObservation> = new Map();

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
  #observations = NONE;
  #lastObserved = -Infinity;

  /** @param tolerance the largest difference of clocks, in ms */
  constructor(private readonly tolerance: number) {}

  /** Notes the leases that the record had at `at` (monotonic ms). */
  observe(leases: readonly Expiring[], at: number): void {
    const isSame = this.#observations.size === leases.length && leases.every((lease) => this.#known(lease));
    if (!isSame) this.#observations = leases.length === 0 ? NONE : this.#observed(leases, at);
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

  #observed(leases: readonly Expiring[], at: number): ReadonlyMap<string, LeaseObservation> {
    const observed = new Map<string, LeaseObservation>();
    for (const lease of leases) observed.set(lease.id, this.#known(lease) ?? this.#first(lease, at));
    return observed;
  }

  #first({ expiresAt, duration, nonce }: Expiring, at: number): LeaseObservation {
    return { expiresAt, duration, nonce, lastSeenWithout: this.#lastObserved, firstSeenWith: at };
  }

  #known({ id, expiresAt, duration, nonce }: Expiring): LeaseObservation | undefined {
    const seen = this.#observations.get(id);
    return seen?.expiresAt === expiresAt && seen.duration === duration && seen.nonce === nonce ? seen : undefined;
  }
}
