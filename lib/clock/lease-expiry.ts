import type { Expiring } from '../decision/permit.js';
import type { ClusterClock } from './cluster-clock.js';
import type { NodeClock } from '../async/node-clock.js';
import { LeaseObservations } from './lease-observations.js';

/** Whether a lease of one record is over for everybody but its holder, as far as this node can know. */
export class LeaseExpiry {
  readonly #sightings: LeaseObservations;
  #isSampleDue = false;

  /** @param tolerance ms that clocks may be apart */
  constructor(
    private readonly clusterClock: ClusterClock,
    private readonly node: NodeClock,
    private readonly tolerance: number,
  ) {
    this.#sightings = new LeaseObservations(tolerance);
  }

  /** Notes what the record holds now. */
  observe(leases: readonly Expiring[]): void {
    this.#sightings.observe(leases, this.node.monotonic());
  }

  /**
   * ms until it is over, or less than that: it may be refreshed. Infinity for one that was not seen. Only while cluster
   * time is fresh.
   */
  timeUntilExpiry(lease: Expiring): number {
    const end = this.#sightings.endOf(lease);
    if (!end) return Infinity;
    const at = this.node.monotonic();
    return Math.min(end.notAfter - at, Math.max(end.notBefore - at, this.#untilDeadByClusterTime(lease)));
  }

  isExpired(lease: Expiring): boolean {
    const end = this.#sightings.endOf(lease);
    if (!end) return false;
    if (this.timeUntilExpiry(lease) > 0) {
      // A node that has just started may hear enough of the clocks in a moment.
      this.#isSampleDue ||= this.clusterClock.mayHearMore && this.#untilExpiry(lease) <= 0;
      return false;
    }
    if (this.node.monotonic() >= end.notAfter) return true;
    // Cluster time alone says so. Its stamp was made before it was seen; the clock may have been set back before that.
    // Only a sample that is younger shows the clock by which it was stamped.
    const isProven = this.clusterClock.sampledAt >= end.firstSeen;
    this.#isSampleDue ||= !isProven;
    return isProven;
  }

  /** Whether a lease was held for alive only because the last sample is too old to end it; asking clears it. */
  takeSampleWish(): boolean {
    const isDue = this.#isSampleDue;
    this.#isSampleDue = false;
    return isDue;
  }

  #untilDeadByClusterTime({ expiresAt, duration }: Expiring): number {
    if (!this.clusterClock.mayJudge(duration)) return Infinity;
    return expiresAt + this.tolerance - this.clusterClock.earliest();
  }

  /** By the clocks that were heard so far: to ask for more readings, never to judge. */
  #untilExpiry({ expiresAt }: Expiring): number {
    return expiresAt - this.clusterClock.earliest();
  }
}
