import type { CancelTimer } from '../async/node-clock.js';
import type { StoredPermit } from '../decision/index.js';
import type { AcquireRequest } from '../decision/decide.js';
import type { Context } from '../context/context.js';
import type { LossReason } from '../context/events.js';
import type { Instant } from '../cell/plan.js';

/** One use of a lease. The lease notifies it when the lease ends. */
export interface LeaseUser {
  /** Whether this use wants the lease kept alive. */
  readonly keepAlive: boolean;
  end(reason: LossReason): void;
}

/**
 * Longest time between two checks of the clocks, in ms. Timers stop while the machine sleeps. A single timer for the
 * end would notify the holder late, by as long as the machine slept.
 */
export const LONGEST_BLINK = 1000;

/**
 * The holder's side of a permit: how long this process may rely on it.
 *
 * ```
 *   request sent    answer                        holder's end     permit's end     takers may be granted the slot
 *   ├───────────────┼───────────────────────────────┼────────────────┼────────────────┼──▶
 *   0                                             duration         duration         duration
 *                                                 - tolerance                       + tolerance
 * ```
 *
 * The holder counts from before the request was sent, with both the monotonic and the wall clock. The monotonic clock
 * may stop while the machine sleeps, and the wall clock may jump; the clock that is further ahead counts. So the
 * holder's signal aborts before another node can get the slot. A frozen process gets the signal late, but
 * {@link isHeld} reads the clocks at each call.
 */
export class Lease {
  #sent: Instant;
  #permit: StoredPermit;
  #end?: LossReason;
  #cancelTimer: CancelTimer;
  #isKept = false;
  #uncertain?: number;
  /** The uses that share this lease. The permit is released in the store with the last use. */
  readonly users = new Set<LeaseUser>();

  constructor(
    permit: StoredPermit,
    sent: Instant,
    private readonly context: Pick<Context, 'nodeClock' | 'timing'>,
    private readonly onEnd: (lease: Lease, reason: LossReason) => void,
  ) {
    this.#permit = permit;
    this.#sent = sent;
    this.#cancelTimer = this.#lookAgain();
  }

  /** The permit as this node last wrote it into the record. */
  get permit(): StoredPermit {
    return this.#permit;
  }

  /** Why the lease ended; undefined while it is held. */
  get end(): LossReason | undefined {
    if (!this.#end && this.remaining <= 0) this.finish('expired');
    return this.#end;
  }

  /** Whether the lease is held now. Reads the clocks. */
  get isHeld(): boolean {
    return this.end === undefined;
  }

  /** ms until the lease ends, by the clock that is further ahead. */
  get remaining(): number {
    const { nodeClock, timing } = this.context;
    const monotonic = nodeClock.monotonic() - this.#sent.monotonic;
    const wall = nodeClock.wall() - this.#sent.wall;
    return this.#permit.duration - timing.clockTolerance - Math.max(monotonic, wall);
  }

  /** Whether a run has ended and left the permit to expire. Then no other use may release it. */
  get isKept(): boolean {
    return this.#isKept;
  }

  keep(): void {
    this.#isKept = true;
  }

  /** Duration of a refresh with unknown outcome, in ms; undefined: no such refresh. 0: it asked for no duration. */
  get uncertain(): number | undefined {
    return this.#uncertain;
  }

  markUncertain(duration: number): void {
    this.#uncertain = Math.max(duration, this.#uncertain ?? 0);
  }

  /** ms until the permit itself ends. The holder does not use the last `clockTolerance` of this time. */
  get left(): number {
    return this.remaining + this.context.timing.clockTolerance;
  }

  /** A request that only refreshes this permit. Not a spread: that took a tenth of the time of a refresh. */
  refreshRequest({ nonce, running, duration }: Pick<AcquireRequest, 'nonce' | 'running' | 'duration'>): AcquireRequest {
    const { id: permitId, instance, holder, acquirer, group } = this.#permit;
    return {
      instance,
      holder,
      acquirer,
      group,
      permitId,
      nonce,
      held: this.#permit,
      heldFor: this.left,
      running,
      onlyRefresh: true,
      duration,
    };
  }

  /** Takes over a successful refresh. The running timer finds the new end when it fires. */
  renew(permit: StoredPermit, sent: Instant): void {
    this.#permit = permit;
    this.#sent = sent;
    this.#uncertain = undefined;
  }

  /** Ends the lease for good: a lost permit stays lost. */
  finish(reason: LossReason): void {
    if (this.#end) return;
    this.#end = reason;
    this.#cancelTimer();
    this.onEnd(this, reason);
    for (const user of this.users) user.end(reason);
    this.users.clear();
  }

  /** Lets the lease end only when it is read after its time. A holder that reads it before each use needs no timer. */
  unwatch(): void {
    this.#cancelTimer();
  }

  #check = (): void => {
    if (this.isHeld) this.#cancelTimer = this.#lookAgain();
  };

  #lookAgain(): CancelTimer {
    return this.context.nodeClock.schedule(this.#check, Math.min(this.remaining, LONGEST_BLINK));
  }
}
