import type { Context } from '../context/context.js';
import type { StoredPermit } from '../decision/index.js';
import type { Candidate } from './candidate.js';

/**
 * Reports leaders that crashed. A leader that gives its permit back leaves a record without permits. So if another
 * node's permit is still in the record when this node takes the next one, it has expired.
 */
export class CrashedLeaders {
  /** The permit in the last version of each scope's record, by semaphore. */
  readonly #last = new Map<string, StoredPermit>();

  constructor(private readonly context: Pick<Context, 'node' | 'events'>) {}

  /** Call this with each new version of the scope's record. */
  observe({ semaphore, own }: Pick<Candidate, 'semaphore' | 'own'>): void {
    const { node, events } = this.context;
    const [permit] = own.recordClient.known?.permits ?? [];
    const former = this.#last.get(semaphore);
    if (permit) this.#last.set(semaphore, permit);
    else this.#last.delete(semaphore);
    const isSuccessor = permit?.instance === node.instance && former && former.token < permit.token;
    if (isSuccessor && former.instance !== node.instance)
      events.next({ type: 'expired', semaphore, permits: [former] });
  }
}
