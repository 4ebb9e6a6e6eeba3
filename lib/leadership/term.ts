import type { StoredPermit } from '../decision/index.js';
import type { HeldPermit } from '../permits/held-permit.js';
import type { GuardingPermit } from '../permits/runs/permit-work.js';

/** One uninterrupted time in which this node leads a scope. It stands on the permit of the scope's semaphore. */
export class Term implements GuardingPermit {
  readonly isGuarded = true;

  constructor(
    /** Name of the scope. */
    readonly scope: string,
    private readonly permit: HeldPermit,
    private readonly ending: AbortSignal,
  ) {}

  /** Name of the scope's semaphore: `leader:<scope>`. */
  get semaphore(): string {
    return this.permit.semaphore;
  }

  get slot(): number {
    return this.permit.slot;
  }

  /** Fencing token: each later term of the scope has a higher one, on any node. Send it with each write. */
  get token(): number {
    return this.permit.token;
  }

  /** The permit in the record, as this node last wrote it. */
  get stored(): StoredPermit {
    return this.permit.lease.permit;
  }

  /** Cluster time in ms since 1970 at which the term began. */
  get since(): number {
    return this.permit.grantedAt;
  }

  /** Aborts when the term ends, before another node can lead. */
  get signal(): AbortSignal {
    // Also notices an end that no timer has reported yet, because the process was frozen.
    void this.permit.signal;
    return this.ending;
  }

  /** Whether the term goes on. Reads the node's clocks, so it is correct even after the process was frozen. */
  get isHeld(): boolean {
    return this.permit.isHeld && !this.ending.aborted;
  }

  /** ms for which this node may still lead if no refresh succeeds; 0 after the end. */
  get remaining(): number {
    return this.isHeld ? this.permit.remaining : 0;
  }

  /**
   * Call this right before a step that only the leader may do. It does not ask the store.
   *
   * @throws NotLeaderError or PermitLostError if the term is over
   */
  assertHeld(): void {
    this.signal.throwIfAborted();
    this.permit.assertHeld();
  }

  /** Refreshes the permit now, which also happens by itself. See `Permit.extend`. */
  extend(duration?: number | string): Promise<void> {
    return this.permit.extend(duration);
  }

  /** The same term, but it also ends with `signal`. */
  until(signal: AbortSignal): Term {
    return new Term(this.scope, this.permit, AbortSignal.any([this.ending, signal]));
  }
}
