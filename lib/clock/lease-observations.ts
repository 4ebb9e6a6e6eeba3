import type { Expiring } from '../decision/permit.js';

/** What a node saw of one lease, in its own monotonic ms. */
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
  readonly notBefore: number;
  /** With the tolerance. */
  readonly notAfter: number;
  /** Since when the node knows of it. */
  readonly firstSeen: number;
}

/**
 * What one node has observed of the leases of one record. It bounds a lease's end by the node's own monotonic clock,
 * whatever cluster time says:
 *
 * - surely alive until `lastSeenWithout + duration`: it was written after that moment, so that a cluster clock that
 *   jumps ahead can't end it early;
 * - surely dead after `firstSeenWith + duration + tolerance`: it was written before that moment, and its holder counts
 *   from before it wrote. Kubernetes' leader election lives by this bound alone.
 *
 * Only in between does cluster time decide. Assumed of the clocks: monotonic clocks of two nodes drift apart by less
 * than the tolerance within one duration. Late news only widens the bounds to the safe side.
 */
export class LeaseObservations {
  #sightings = new Map<string, LeaseObservation>();
  #lastObserved = -Infinity;

  constructor(private readonly tolerance: number) {}

  /** Notes what the record held at `at` (monotonic ms). */
  observe(leases: readonly Expiring[], at: number): void {
    const seen = new Map<string, LeaseObservation>();
    for (const lease of leases) {
      const { id, expiresAt, duration } = lease;
      const known = this.#known(lease);
      seen.set(id, known ?? { expiresAt, duration, lastSeenWithout: this.#lastObserved, firstSeenWith: at });
    }
    this.#sightings = seen;
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

  #known({ id, expiresAt, duration }: Expiring): LeaseObservation | undefined {
    const seen = this.#sightings.get(id);
    return seen?.expiresAt === expiresAt && seen.duration === duration ? seen : undefined;
  }
}
