import type { EntryOf, HistoryEntry } from './history.js';
import { formatTime } from './format.js';
import type { Violations } from './violations.js';

type Granted = EntryOf<'granted'>;

interface Issued {
  /** The highest token that was surely granted before the moment looked at. */
  highest?: Granted;
  /** Returned at this very moment: they come before nothing that happens at it. */
  now: Granted[];
  /** The permit of each token. */
  readonly permits: Map<number, string>;
}

/** S2: a request after the return of another grant gets a higher token, and no two permits have the same token. */
export class Tokens {
  readonly #issued = new Map<string, Issued>();
  /** By call: what a token granted to it must be higher than. */
  readonly #mustExceed = new Map<string, Granted>();

  constructor(private readonly violations: Violations) {}

  see(entry: HistoryEntry, invoked: EntryOf<'invoked'> | undefined): void {
    if (entry.event === 'invoked' && entry.verb === 'acquire') {
      const { highest } = this.#at(entry);
      if (highest) this.#mustExceed.set(entry.call, highest);
    }
    if (entry.event === 'granted') this.#granted(entry);
    if (invoked) this.#mustExceed.delete(invoked.call);
  }

  #granted(entry: Granted): void {
    const issued = this.#at(entry);
    const { token, permit } = entry;
    const holder = issued.permits.get(token);
    // Its own permit once more, which keeps its token.
    if (holder === permit) return;
    const before = this.#mustExceed.get(entry.call);
    if (holder !== undefined) this.#violated(entry, `permit ${holder} has that token, too`);
    else if (before && token <= before.token) {
      const when = formatTime(before.at, this.violations.start);
      this.#violated(entry, `it was asked for after ${before.process} had been granted ${before.token} at ${when}`);
    }
    issued.permits.set(token, permit);
    issued.now.push(entry);
  }

  #at({ semaphore, at }: { readonly semaphore: string; readonly at: number }): Issued {
    const issued = this.#issued.get(semaphore) ?? { now: [], permits: new Map<number, string>() };
    this.#issued.set(semaphore, issued);
    while (issued.now[0] && issued.now[0].at < at) {
      const grant = issued.now.shift()!;
      if (!issued.highest || grant.token > issued.highest.token) issued.highest = grant;
    }
    return issued;
  }

  #violated({ process, semaphore, permit, token }: Granted, why: string): void {
    this.violations.add('S2', `${process} was granted permit ${permit} of ${semaphore} with token ${token}: ${why}`, {
      semaphore,
      processes: [process],
    });
  }
}
