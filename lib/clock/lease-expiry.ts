import type { NodeClock } from '../async/node-clock.js';
import type { Expiring } from '../decision/permit.js';
import type { ClusterClock } from './cluster-clock.js';
import { LeaseObservations } from './lease-observations.js';

/**
 * Decides whether a lease of one record is over for every node but its holder:
 *
 * | the node's own clock ({@link LeaseObservations}) | cluster time                                          | expired    |
 * | ------------------------------------------------ | ----------------------------------------------------- | ---------- |
 * | never saw the lease                              | any                                                   | no         |
 * | surely alive                                     | any                                                   | no         |
 * | surely expired                                   | any                                                   | yes        |
 * | between the two                                  | may not judge (a sign, or a member was not heard)     | no, sample |
 * |                                                  | before `expiresAt` + tolerance                        | no         |
 * |                                                  | after it, by a sample older than the first sight of it | no, sample |
 * |                                                  | after it, by a younger sample                         | yes        |
 *
 * "sample": a new sample of the clocks may end the lease ({@link takeSampleWish}); for a clock that may not judge only
 * right after the start, when more members may answer.
 */
export class LeaseExpiry {
  readonly #observations: LeaseObservations;
  #isSampleDue = false;

  /** @param tolerance ms that clocks may be apart */
  constructor(
    private readonly clusterClock: ClusterClock,
    private readonly node: NodeClock,
    private readonly tolerance: number,
  ) {
    this.#observations = new LeaseObservations(tolerance);
  }

  /** Notes what the record holds now. */
  observe(leases: readonly Expiring[]): void {
    this.#observations.observe(leases, this.node.monotonic());
  }

  /**
   * Time until a lease is over unless it is refreshed, in ms; negative when it is over, Infinity for one that was not
   * seen. Ask only while cluster time is fresh.
   */
  timeUntilExpiry(lease: Expiring): number {
    const end = this.#observations.endOf(lease);
    if (!end) return Infinity;
    const at = this.node.monotonic();
    return Math.min(end.notAfter - at, Math.max(end.notBefore - at, this.#untilExpiryByClusterTime(lease)));
  }

  isExpired(lease: Expiring): boolean {
    const end = this.#observations.endOf(lease);
    if (!end) return false;
    if (this.timeUntilExpiry(lease) > 0) {
      // A node that has just started may hear enough of the clocks in a moment.
      this.#isSampleDue ||= this.clusterClock.mayHearMore && this.#untilExpiry(lease) <= 0;
      return false;
    }
    if (this.node.monotonic() >= end.notAfter) return true;
    // Cluster time alone ends it. The lease was stamped before it was seen, and the clock may have been set back before
    // that: only a sample that is younger than the first sight shows the clock by which it was stamped.
    const isProven = this.clusterClock.sampledAt >= end.firstSeen;
    this.#isSampleDue ||= !isProven;
    return isProven;
  }

  /** Whether only a new sample can end a lease that counted as alive; asking clears it. */
  takeSampleWish(): boolean {
    const isDue = this.#isSampleDue;
    this.#isSampleDue = false;
    return isDue;
  }

  #untilExpiryByClusterTime(lease: Expiring): number {
    return this.clusterClock.mayJudge(lease.duration) ? this.#untilExpiry(lease) + this.tolerance : Infinity;
  }

  /** By the clocks that were heard so far: to ask for more readings, not to judge. */
  #untilExpiry({ expiresAt }: Expiring): number {
    return expiresAt - this.clusterClock.earliest();
  }
}
