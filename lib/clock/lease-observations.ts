import type { Expiring } from '../decision/permit.js';

/** When a node saw one lease, in its own monotonic ms. */
interface LeaseObservation {
  /**
   * Both tell the lease from earlier ones of the same permit. A refresh makes another lease, which always ends later
   * than the one before it, unless the store forgot that one: then their durations differ.
   */
  readonly expiresAt: number;
  readonly duration: number;
  /** The last moment at which the record was seen without it. It was written after that. */
  readonly lastSeenWithout: number;
  /** The first moment at which it was seen. It was written before that. */
  readonly firstSeenWith: number;
}

/** Between which moments of the node's own monotonic clock (ms) a lease ends. */
export interface LeaseEnd {
  /** {@link LeaseObservations}: the lease is surely alive until then. */
  readonly notBefore: number;
  /** The lease is surely expired from then on. The tolerance is included. */
  readonly notAfter: number;
  readonly firstSeen: number;
}

/**
 * Bounds the end of each lease of one record by this node's own monotonic clock, from its two observations of it:
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
 * Surely alive: the lease was written after `lastSeenWithout`, so that a cluster clock that jumps ahead can't end it
 * early. Surely expired: it was written before `firstSeenWith`, and its holder counts from before it wrote; Kubernetes'
 * leader election relies on this bound alone.
 *
 * Assumed of the clocks: monotonic clocks of two nodes drift apart by less than the tolerance within one duration. News
 * that comes late only widens the bounds to the safe side.
 */
export class LeaseObservations {
  readonly #observations = new Map<string, LeaseObservation>();
  #lastObserved = -Infinity;

  /** @param tolerance ms that clocks may be apart */
  constructor(private readonly tolerance: number) {}

  /** Notes what the record held at `at` (monotonic ms). */
  observe(leases: readonly Expiring[], at: number): void {
    for (const lease of leases) {
      if (this.#known(lease)) continue;
      const { id, expiresAt, duration } = lease;
      this.#observations.set(id, { expiresAt, duration, lastSeenWithout: this.#lastObserved, firstSeenWith: at });
    }
    if (this.#observations.size !== leases.length) this.#forgetOthers(leases);
    this.#lastObserved = at;
  }

  /** @returns undefined for a lease that was not seen */
  endOf(lease: Expiring): LeaseEnd | undefined {
    const seen = this.#known(lease);
    if (!seen) return undefined;
    const { lastSeenWithout, firstSeenWith: firstSeen } = seen;
    const { duration } = lease;
    return { notBefore: lastSeenWithout + duration, notAfter: firstSeen + duration + this.tolerance, firstSeen };
  }

  #forgetOthers(leases: readonly Expiring[]): void {
    const ids = new Set(leases.map(({ id }) => id));
    for (const id of this.#observations.keys()) if (!ids.has(id)) this.#observations.delete(id);
  }

  #known({ id, expiresAt, duration }: Expiring): LeaseObservation | undefined {
    const seen = this.#observations.get(id);
    return seen?.expiresAt === expiresAt && seen.duration === duration ? seen : undefined;
  }
}
