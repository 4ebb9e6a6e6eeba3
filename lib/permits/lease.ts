import type { CancelTimer } from '../async/node-clock.js';
import type { StoredPermit } from '../decision/index.js';
import type { AcquireRequest } from '../decision/decide.js';
import type { Context } from '../context/context.js';
import type { LossReason } from '../context/events.js';
import type { Instant } from '../records/plan.js';

/** One use of a lease, which is notified when the lease ends. */
export interface LeaseUser {
  /** Whether this use wants the lease kept alive. */
  readonly keepAlive: boolean;
  end(reason: LossReason): void;
}

/**
 * ms between two looks at the clocks. Timers stand still while the machine sleeps: one set for the end would
 * notify the holder late by as much as it slept.
 */
const LONGEST_BLINK = 1000;

/**
 * The holder's side of a permit: how long this process may believe that it holds it.
 *
 * ```
 *   request sent    answer                        holder's end     permit's end     takers may be granted the slot
 *   ├───────────────┼───────────────────────────────┼────────────────┼────────────────┼──▶
 *   0                                             duration         duration         duration
 *                                                 - tolerance                       + tolerance
 * ```
 *
 * It counts from before the request was sent, on both the monotonic and the wall clock (the one may stand still while
 * the machine sleeps, the other may jump; the first of them to say so ends it). So the holder's signal aborts before
 * another node can be granted the slot. A frozen process gets no signal in time; there {@link isHeld} reads the clocks.
 */
export class Lease {
  #sent: Instant;
  #permit: StoredPermit;
  #end?: LossReason;
  #cancelTimer: CancelTimer;
  #isKept = false;
  #uncertain?: number;
  /** The uses that share it; the store's release comes with the last one. */
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

  /** As the record last said. */
  get permit(): StoredPermit {
    return this.#permit;
  }

  /** Why it ended; undefined while it is held. */
  get end(): LossReason | undefined {
    if (!this.#end && this.remaining <= 0) this.finish('expired');
    return this.#end;
  }

  /** By the clocks, read now. */
  get isHeld(): boolean {
    return this.end === undefined;
  }

  /** ms until it ends, by whichever of the node's clocks is further. */
  get remaining(): number {
    const { nodeClock, timing } = this.context;
    const monotonic = nodeClock.monotonic() - this.#sent.monotonic;
    const wall = nodeClock.wall() - this.#sent.wall;
    return this.#permit.duration - timing.clockTolerance - Math.max(monotonic, wall);
  }

  /** Whether a run has left it to be held until it expires: no other use may give it back before. */
  get isKept(): boolean {
    return this.#isKept;
  }

  keep(): void {
    this.#isKept = true;
  }

  /** Duration in ms requested by a refresh with unknown outcome; 0: the one the permit was taken with; undefined: there is none. */
  get uncertain(): number | undefined {
    return this.#uncertain;
  }

  markUncertain(duration: number): void {
    this.#uncertain = Math.max(duration, this.#uncertain ?? 0);
  }

  /** ms until the permit itself would be over, of which the last `clockTolerance` is not used. */
  get left(): number {
    return this.remaining + this.context.timing.clockTolerance;
  }

  /** The request to refresh it, and nothing else. One literal: a spread of parts took a tenth of a refresh. */
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

  /** A refresh that succeeded. The running timer finds the new end by itself. */
  renew(permit: StoredPermit, sent: Instant): void {
    this.#permit = permit;
    this.#sent = sent;
    this.#uncertain = undefined;
  }

  /** Ends it for good: a permit that was lost stays lost. */
  finish(reason: LossReason): void {
    if (this.#end) return;
    this.#end = reason;
    this.#cancelTimer();
    this.onEnd(this, reason);
    for (const user of this.users) user.end(reason);
    this.users.clear();
  }

  #check = (): void => {
    if (this.isHeld) this.#cancelTimer = this.#lookAgain();
  };

  #lookAgain(): CancelTimer {
    return this.context.nodeClock.schedule(this.#check, Math.min(this.remaining, LONGEST_BLINK));
  }
}
