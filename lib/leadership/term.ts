import type { HeldPermit } from '../core/permits/held-permit.js';
import { GuardingPermit } from '../core/permits/runs/guarding-permit.js';

/**
 * One uninterrupted time in which this node leads a scope. It stands on the permit of the semaphore `leader:<scope>`. Its
 * token grows with each term of the scope, on any node. After its end {@link assertHeld} throws NotLeaderError or
 * PermitLostError.
 */
export class Term extends GuardingPermit {
  constructor(
    /** Name of the scope. */
    readonly scope: string,
    permit: HeldPermit,
    ending: AbortSignal,
  ) {
    super(permit, ending);
  }

  /** Cluster time in ms since 1970 at which the term began. */
  get since(): number {
    return this.permit.grantedAt;
  }

  /** The same term, but it also ends with `signal`. */
  until(signal: AbortSignal): Term {
    return new Term(this.scope, this.permit, AbortSignal.any([this.ending, signal]));
  }
}
