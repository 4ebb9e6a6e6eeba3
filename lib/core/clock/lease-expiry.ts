import type { NodeClock } from '../async/node-clock.js';
import type { Expiring } from '../decision/permit.js';
import type { ClusterClock } from './cluster-clock.js';
import { type LeaseEnd, LeaseObservations } from './lease-observations.js';

/**
 * Decides whether a lease of one record is over for all nodes except its holder:
 *
 * | the node's own clock ({@link LeaseObservations}) | cluster time                                          | expired    |
 * | ------------------------------------------------ | ----------------------------------------------------- | ---------- |
 * | never saw the lease                              | any                                                   | no         |
 * | surely alive                                     | any                                                   | no         |
 * | surely expired                                   | any                                                   | yes        |
 * | between the two                                  | may not judge (a sign, or a member's clock is unknown) | no, sample |
 * |                                                  | before `expiresAt` + tolerance                        | no         |
 * |                                                  | after it, by a sample older than the first sight of it | no, sample |
 * |                                                  | after it, by a younger sample                         | yes        |
 *
 * "sample": a new sample of the clocks may end the lease ({@link takeSampleWish}). If cluster time may not judge, a
 * sample only helps right after the start, when more members may answer.
 */
export class LeaseExpiry {
  readonly #observations: LeaseObservations;
  #isSampleDue = false;

  /** @param tolerance the largest difference of clocks, in ms */
  constructor(
    private readonly clusterClock: ClusterClock,
    private readonly node: NodeClock,
    private readonly tolerance: number,
  ) {
    this.#observations = new LeaseObservations(tolerance);
  }

  /** Notes a look at the record now. See {@link LeaseObservations.observe}. */
  observe(begun: readonly Expiring[], gone?: readonly Expiring[]): void {
    this.#observations.observe(begun, this.node.monotonic(), gone);
  }

  /**
   * Time until a lease is over unless it is refreshed, in ms. Negative if it is over; Infinity for a lease that this
   * node did not see. Call it only while cluster time is fresh.
   */
  timeUntilExpiry(lease: Expiring): number {
    const end = this.#observations.endOf(lease);
    return end ? this.#left(lease, end, this.node.monotonic()) : Infinity;
  }

  /**
   * Whether a lease is over for all nodes except its holder.
   *
   * @param at monotonic ms of now; an earlier time only makes the lease count for longer
   */
  isExpired(lease: Expiring, at = this.node.monotonic()): boolean {
    const end = this.#observations.endOf(lease);
    if (!end) return false;
    if (at < end.notBefore || this.#left(lease, end, at) > 0) {
      // A node that has just started may soon know enough clocks.
      this.#isSampleDue ||= this.clusterClock.mayHearMore && this.#untilExpiry(lease) <= 0;
      return false;
    }
    if (at >= end.notAfter) return true;
    // Only cluster time says that the lease is over. The lease was stamped before this node saw it, and the clock may
    // have been set back before the stamp. Only a sample after the first sight of the lease shows the clock that
    // stamped it.
    const isProven = this.clusterClock.sampledAt >= end.firstSeen;
    this.#isSampleDue ||= !isProven;
    return isProven;
  }

  /** Whether a new sample may end a lease that counted as alive. The call resets this. */
  takeSampleWish(): boolean {
    const isDue = this.#isSampleDue;
    this.#isSampleDue = false;
    return isDue;
  }

  #left(lease: Expiring, { notBefore, notAfter }: LeaseEnd, at: number): number {
    return Math.min(notAfter - at, Math.max(notBefore - at, this.#untilExpiryByClusterTime(lease)));
  }

  #untilExpiryByClusterTime(lease: Expiring): number {
    return this.clusterClock.mayJudge(lease.duration) ? this.#untilExpiry(lease) + this.tolerance : Infinity;
  }

  /** ms until the end by the clocks known so far. A reason to ask for more readings, but not enough to judge. */
  #untilExpiry({ expiresAt }: Expiring): number {
    return expiresAt - this.clusterClock.earliest();
  }
}
