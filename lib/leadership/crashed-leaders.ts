import type { Context } from '../core/context/context.js';
import type { StoredPermit } from '../core/decision/index.js';

/**
 * Reports leaders of a scope that crashed. A leader that gives its permit back leaves a record without permits. So if
 * another node's permit is still in the record when this node takes the next one, it has expired.
 */
export class CrashedLeaders {
  #last: StoredPermit | undefined;

  constructor(
    private readonly semaphore: string,
    private readonly context: Pick<Context, 'node' | 'events'>,
  ) {}

  /** Call this with the permit in each new version of the scope's record. */
  observe(permit: StoredPermit | undefined): void {
    const { node, events } = this.context;
    const former = this.#last;
    this.#last = permit;
    const isSuccessor = permit?.instance === node.instance && former && former.token < permit.token;
    if (isSuccessor && former.instance !== node.instance)
      events.next({ type: 'expired', semaphore: this.semaphore, permits: [former] });
  }
}
