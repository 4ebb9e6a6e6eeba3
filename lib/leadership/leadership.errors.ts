import type { TermEnd } from '../core/context/events.js';
import { GatekeeperError, show } from '../core/decision/index.js';

/** A call names a scope that is not among the option `leadership.scopes` of this node. */
export class UnknownScopeError extends GatekeeperError {
  static override readonly className = 'UnknownScopeError';
  readonly code = 'unknown-scope';

  constructor(
    /** Name of the scope. */
    readonly scope: string,
    known: readonly string[],
  ) {
    super(
      `${show(scope)} is no scope of this node: use ${known.map(show).join(' or ')}, or add it to leadership.scopes`,
    );
  }
}

/** A leadership can't be transferred to that node. */
export class CannotLeadError extends GatekeeperError {
  static override readonly className = 'CannotLeadError';
  readonly code = 'cannot-lead';

  constructor(
    /** Name of the scope. */
    readonly scope: string,
    /** Instance of the node. */
    readonly node: string,
    why: string,
  ) {
    super(`the leadership of scope ${show(scope)} can't go to node ${show(node)}: ${why}`);
  }
}

/** This node does not lead (any more): stop the work that only a leader may do. */
export class NotLeaderError extends GatekeeperError {
  static override readonly className = 'NotLeaderError';
  readonly code = 'not-leader';

  constructor(
    /** Name of the scope. */
    readonly scope: string,
    /** Why the term ended, or `closing` if this node shuts down. */
    readonly reason: TermEnd,
  ) {
    super(
      `this node does not lead scope ${show(scope)} any more (${reason}). Its work as leader is not protected any more`,
    );
  }
}
