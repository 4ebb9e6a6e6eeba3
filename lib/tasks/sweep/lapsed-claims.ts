import { LeaseExpiry, trySample } from '../../core/clock/index.js';
import type { Context } from '../../core/context/context.js';
import type { Expiring } from '../../core/decision/permit.js';
import { type Task, USUAL_LEASE } from '../rules/task.js';

/** Samples for one claim: the first one may have begun before the claim was seen. */
const MOST_SAMPLES = 2;
/** ms without another try after the clocks could not be sampled. */
const UNSAMPLED = 1000;

/**
 * Decides whether the leases of claims are over that look over by cluster time. A clock of the store that jumps ahead must
 * not end the lease of a node that lives. So cluster time decides only by a sample that is younger than the first sight
 * of the claim, because a jump shows in that; otherwise the claim must stand unchanged for its lease and the tolerance
 * ({@link LeaseExpiry}).
 */
export class LapsedClaims {
  /** By the nonce of the claim's last write. */
  #seen = new Map<string, LeaseExpiry>();
  /** Those of the round before. Claims that have changed since are not seen again. */
  #former: ReadonlyMap<string, LeaseExpiry> = new Map();
  #sampleAgainAt = -Infinity;

  constructor(private readonly context: Context) {}

  /** All claims that look over have been seen. */
  endRound(): void {
    this.#former = this.#seen;
    this.#seen = new Map();
  }

  /** Call it only while cluster time is fresh. @returns whether other nodes may have the task */
  async isOver(claim: Task): Promise<boolean> {
    const lease = leaseOf(claim);
    const expiry = this.#expiryOf(lease);
    for (let samples = 0; !expiry.isExpired(lease); samples++) {
      if (samples === MOST_SAMPLES || !expiry.takeSampleWish() || !(await this.#hasSampled())) return false;
    }
    return true;
  }

  #expiryOf(lease: Expiring): LeaseExpiry {
    const { clusterClock, nodeClock, timing } = this.context;
    const known = this.#seen.get(lease.id) ?? this.#former.get(lease.id);
    const expiry = known ?? new LeaseExpiry(clusterClock, nodeClock, timing.clockTolerance);
    if (!known) expiry.observe([lease]);
    this.#seen.set(lease.id, expiry);
    return expiry;
  }

  /** Without a sample a lease ends by this node's own clock, and the pass need not wait for each claim. */
  async #hasSampled(): Promise<boolean> {
    const { nodeClock, timing } = this.context;
    if (nodeClock.monotonic() < this.#sampleAgainAt) return false;
    const hasSampled = await trySample(this.context, timing.callTimeout);
    if (!hasSampled) this.#sampleAgainAt = nodeClock.monotonic() + UNSAMPLED;
    return hasSampled;
  }
}

/** Whether a claim was written by a clock that was ahead, and was set back since. @param now cluster time at most, in ms */
export function isStampedAhead({ at, lease = USUAL_LEASE }: Task, now: number): boolean {
  return at - lease > now;
}

/** Each write of a claim is a lease of its own. */
function leaseOf({ nonce, at, lease = USUAL_LEASE }: Task): Expiring {
  return { id: nonce, expiresAt: at, duration: lease };
}
