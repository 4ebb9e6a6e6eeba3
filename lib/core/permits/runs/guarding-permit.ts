import type { StoredPermit } from '../../decision/index.js';
import type { LossReason } from '../../context/events.js';
import type { HeldPermit } from '../held-permit.js';
import type { RunPermit } from './run-permit.js';

/**
 * A permit that guards several pieces of work at the same time, as the work sees it. It ends when the permit is lost, or
 * earlier, when its holder aborts `ending`. The holder then keeps the permit until the work has ended: see `PermitWork`.
 */
export class GuardingPermit implements RunPermit {
  readonly isGuarded = true;

  constructor(
    /** The permit that this one relies on. */
    protected readonly permit: HeldPermit,
    /** Aborts when the holder ends the work, or when the permit is lost. */
    protected readonly ending: AbortSignal,
  ) {}

  /** Name of the semaphore. */
  get semaphore(): string {
    return this.permit.semaphore;
  }

  get slot(): number {
    return this.permit.slot;
  }

  /** Fencing token: each later permit of the slot has a higher one, on any node. Send it with each write. */
  get token(): number {
    return this.permit.token;
  }

  /** The permit in the record, as this node last wrote it. */
  get stored(): StoredPermit {
    return this.permit.lease.permit;
  }

  /** Aborts when it ends, before another node can get the permit. */
  get signal(): AbortSignal {
    // Also notices an end that no timer has reported yet, because the process was frozen.
    void this.permit.signal;
    return this.ending;
  }

  /** Whether the work may still rely on it. Reads the node's clocks, so it is correct even after the process was frozen. */
  get isHeld(): boolean {
    return this.permit.isHeld && !this.ending.aborted;
  }

  /** Why the permit was lost, if it was: see `HeldPermit`. */
  get loss(): LossReason | undefined {
    return this.permit.loss;
  }

  /** ms for which this process may still rely on it if no refresh succeeds; 0 after the end. */
  get remaining(): number {
    return this.isHeld ? this.permit.remaining : 0;
  }

  /**
   * Call this right before a step that needs the permit. It does not ask the store.
   *
   * @throws the reason of {@link signal}, or PermitLostError, if it is over
   */
  assertHeld(): void {
    this.signal.throwIfAborted();
    this.permit.assertHeld();
  }

  /** Refreshes the permit now, which also happens by itself. See `Permit.extend`. */
  extend(duration?: number | string): Promise<void> {
    return this.permit.extend(duration);
  }
}
