import { quoted } from '../decision/index.js';
import { StoreUnavailableError } from '../stores/index.js';

const NOT_YET = 'this node has not read the shards of the names on demand yet: try again in a moment';

/** This node has not read the shards, and so can't say what stands there. The store itself may be well: no outage. */
export class ShardsUnreadError extends StoreUnavailableError {
  /**
   * @param isDeclared this node's code defines the semaphore, and its definition is not in force yet
   * @param why the fault that keeps the node from reading them, if that lasts
   */
  constructor(
    semaphore: string,
    readonly isDeclared: boolean,
    why = NOT_YET,
  ) {
    super(`semaphore ${quoted(semaphore)}: ${why}`);
  }
}
