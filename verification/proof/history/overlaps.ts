import type { Limits } from './limits.js';
import type { Holding } from './permits.js';
import { formatTime } from './format.js';
import type { Violations } from './violations.js';

/**
 * S1: never more surely held than the limit says, and never two in one slot. Checked at each new holding: if permits
 * overlap, they overlap when the last of them begins.
 *
 * A permit that was granted under a higher limit may stay. So a newcomer is checked against the highest limit during its
 * request: it was decided then, while all the others were already held.
 */
export class Overlaps {
  count = 0;

  constructor(
    private readonly violations: Violations,
    private readonly limits: Limits,
  ) {}

  check(newcomer: Holding, held: ReadonlySet<Holding>, at: number): void {
    const { semaphore, askedAt } = newcomer;
    const limit = this.limits.most(semaphore, askedAt);
    if (limit === undefined) {
      this.violations.add('H', `no entry says how many permits of ${semaphore} there may be before the first call`, {
        semaphore,
      });
    }
    const rivals = [...held].filter((other) => other !== newcomer && other.slot === newcomer.slot);
    if (rivals.length > 0) this.#violated(`two held slot ${newcomer.slot} at once`, [...rivals, newcomer], at);
    else if (held.size > (limit ?? Infinity))
      this.#violated(`${held.size} were held at once where ${limit} may be`, [...held], at);
  }

  #violated(what: string, held: readonly Holding[], at: number): void {
    this.count++;
    const { start } = this.violations;
    const list = held.map(
      ({ process, permit, slot, token, from, until }) =>
        `${process} held ${permit} (slot ${slot}, token ${token}) from ${formatTime(from, start)} and counted on it until ${formatTime(until, start)}`,
    );
    const [{ semaphore }] = held as [Holding];
    this.violations.add('S1', `${semaphore}: ${what}, at ${formatTime(at, start)}: ${list.join('; ')}`, {
      semaphore,
      processes: held.map(({ process }) => process),
    });
  }
}
