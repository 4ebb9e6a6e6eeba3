import type { Expiring } from '../decision/index.js';
import type { NodeClock } from '../async/node-clock.js';

/** The leases of one record, as this node has observed them: decisions depend on the same times. */
interface LeaseTimes {
  /** ms; Infinity for a lease that the record does not have, as this node last saw it. */
  timeUntilExpiry(lease: Expiring): number;
}

/** A record that was restored after lost data, and whose grace has not ended. */
export interface Recovery {
  /** Key of the record. */
  readonly key: string;
  /** When this node first saw the grace, in monotonic ms. */
  readonly since: number;
  /** ms until the grace ends. */
  readonly left: number;
}

/** The records that this node knows to be in their grace. */
export class Recoveries {
  readonly #graces = new Map<
    string,
    Pick<Recovery, 'since'> & { readonly grace: Expiring; readonly times: LeaseTimes }
  >();

  constructor(private readonly nodeClock: Pick<NodeClock, 'monotonic'>) {}

  /** Notes the grace that the latest version of a record has, if any. */
  note(key: string, grace: Expiring | undefined, times: LeaseTimes): void {
    // Each write of any record comes here.
    if (!grace && this.#graces.size === 0) return;
    const known = this.#graces.get(key);
    if (!grace) this.#graces.delete(key);
    else if (known?.grace.id !== grace.id) this.#graces.set(key, { since: this.nodeClock.monotonic(), grace, times });
  }

  /** The graces that have not ended. Forgets the others: a record keeps an ended grace until it is written again. */
  current(): readonly Recovery[] {
    const recoveries: Recovery[] = [];
    for (const [key, { since, grace, times }] of this.#graces) {
      const left = times.timeUntilExpiry(grace);
      if (left > 0 && left < Infinity) recoveries.push({ key, since, left });
      else this.#graces.delete(key);
    }
    return recoveries;
  }
}
