import { quoted } from '../decision/index.js';
import { StoreUnavailableError } from '../store/index.js';

const NOT_YET = 'this node has not read the shards of the names on demand yet: try again in a moment';

/** This node has not read the shards, so it does not know their names. This is no outage: the store may be healthy. */
export class ShardsUnreadError extends StoreUnavailableError {
  static override readonly className = 'ShardsUnreadError';
  /**
   * @param isDeclared whether this node's code defines the semaphore, but the definition is not in the store yet
   * @param why the fault that prevents the node from reading the shards, if it lasts
   */
  constructor(
    semaphore: string,
    readonly isDeclared: boolean,
    why = NOT_YET,
  ) {
    super(`semaphore ${quoted(semaphore)}: ${why}`);
  }
}
