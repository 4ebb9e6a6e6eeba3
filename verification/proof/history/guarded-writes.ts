import type { EntryOf } from './history.js';
import { formatTime } from './format.js';
import type { Violations } from './violations.js';

type Written = EntryOf<'written'>;

/** S3: once a write with a token was applied to a place, none with a lower one is. */
export class GuardedWrites {
  readonly #highest = new Map<string, Written>();
  applied = 0;
  staleRefused = 0;
  staleApplied = 0;

  constructor(private readonly violations: Violations) {}

  see(entry: Written): void {
    const { semaphore, slot, token, isApplied, process } = entry;
    const place = `${semaphore}/${slot}`;
    const highest = this.#highest.get(place);
    const isStale = highest !== undefined && token < highest.token;
    if (isApplied) this.applied++;
    if (isStale && !isApplied) this.staleRefused++;
    if (isStale && isApplied) {
      this.staleApplied++;
      const when = `${highest.token} of ${highest.process} at ${formatTime(highest.at, this.violations.start)}`;
      this.#violated(
        'S3',
        entry,
        `a write of ${process} with token ${token} was applied to ${place} after one with ${when}`,
      );
    }
    // A resource that refuses what it should take proves nothing by what it refuses.
    if (!isStale && !isApplied)
      this.#violated('H', entry, `a write of ${process} with token ${token} to ${place} was refused and is not stale`);
    if (isApplied && !isStale) this.#highest.set(place, entry);
  }

  #violated(rule: 'S3' | 'H', { semaphore, process }: Written, text: string): void {
    this.violations.add(rule, text, { semaphore, processes: [process] });
  }
}
