import type { EntryOf, HistoryEntry } from './history.js';
import type { Overlaps } from './overlaps.js';
import type { EndNotices } from './end-notices.js';
import type { Violations } from './violations.js';

/** One permit as its holder knows it. */
export interface Holding {
  readonly permit: string;
  readonly semaphore: string;
  readonly process: string;
  readonly slot: number;
  readonly token: number;
  /** When its grant was asked for: from then on it may have been decided. */
  readonly askedAt: number;
  /** Since when it is surely held without a gap. */
  from: number;
  /** The last end that the holder knows. */
  until: number;
  /** Why it was over before that end. */
  over?: 'ended' | 'released' | 'killed';
}

/**
 * Permits that are surely held: from the return of the grant to the invocation of the release, the abort of the signal, the death
 * of the process, or the end that the holder knows, whichever comes first. A frozen process goes on holding until that end.
 */
export class Permits {
  readonly #byId = new Map<string, Holding>();
  /** Permits that may be held now, by semaphore; ended ones are removed when the next one comes. */
  readonly #held = new Map<string, Set<Holding>>();

  constructor(
    private readonly violations: Violations,
    private readonly overlaps: Overlaps,
    private readonly endNotices: EndNotices,
  ) {}

  see(entry: HistoryEntry, invoked: EntryOf<'invoked'> | undefined): void {
    if (entry.event === 'granted') this.#granted(entry, invoked);
    else if (entry.event === 'refreshed') this.#refreshed(entry);
    else if (entry.event === 'killed') this.#killed(entry);
    else if (entry.event === 'ended') this.#end(entry, this.#known(entry), 'ended');
    else if (entry.event === 'woken') {
      const holding = this.#known(entry);
      if (holding) this.endNotices.woken(holding, entry);
    } else if (entry.event === 'invoked' && entry.permit !== undefined) {
      const holding = this.#known(entry as typeof entry & { permit: string });
      if (entry.verb === 'release') this.#end(entry, holding, 'released');
    }
  }

  /** Permits that a process surely holds at a moment. */
  heldBy(process: string, at: number): Holding[] {
    return [...this.#held.keys()].flatMap((semaphore) =>
      this.heldOf(semaphore, at).filter((holding) => holding.process === process),
    );
  }

  /** Permits of a semaphore that are surely held at a moment. */
  heldOf(semaphore: string, at: number): Holding[] {
    return [...(this.#held.get(semaphore) ?? [])].filter((holding) => holding.until > at);
  }

  finish(end: number): void {
    for (const holding of this.#byId.values()) if (!holding.over) this.endNotices.over(holding, 'silence', end);
  }

  #granted(entry: EntryOf<'granted'>, invoked: EntryOf<'invoked'> | undefined): void {
    const { permit, semaphore, process, slot, token, at, remaining } = entry;
    const known = this.#byId.get(permit);
    if (known) {
      if (isSame(known, entry)) this.#goOn(known, at, remaining);
      else this.#broken('S2', entry, `a permit keeps its holder, its slot and its token; ${formatHolding(known)}`);
      return;
    }
    const askedAt = invoked?.at ?? at;
    const holding = { permit, semaphore, process, slot, token, askedAt, from: at, until: at + remaining };
    this.#byId.set(permit, holding);
    this.#begin(holding, at);
  }

  #refreshed(entry: EntryOf<'refreshed'>): void {
    const holding = this.#known(entry);
    // The request came before the release and its answer after it: the holder does not count on it.
    if (!holding || holding.over === 'released') return;
    this.#goOn(holding, entry.at, entry.remaining);
  }

  /** The holder counts on it anew. Past its end it was not held, whatever came later. */
  #goOn(holding: Holding, at: number, remaining: number): void {
    const isWithoutGap = !holding.over && at <= holding.until;
    if (!isWithoutGap) this.endNotices.revived(holding, at);
    holding.until = at + remaining;
    if (isWithoutGap) return;
    holding.from = at;
    holding.over = undefined;
    this.#begin(holding, at);
  }

  #begin(holding: Holding, at: number): void {
    const held = this.#held.get(holding.semaphore) ?? new Set();
    this.#held.set(holding.semaphore, held);
    for (const other of held) if (other.until <= at) held.delete(other);
    if (holding.until <= at) return;
    held.add(holding);
    this.overlaps.check(holding, held, at);
  }

  #end(entry: HistoryEntry, holding: Holding | undefined, over: 'ended' | 'released'): void {
    if (!holding || holding.over) return;
    this.endNotices.over(holding, entry.event === 'ended' ? entry.reason : over, entry.at);
    holding.over = over;
    this.#held.get(holding.semaphore)?.delete(holding);
  }

  #killed({ process, at }: HistoryEntry): void {
    for (const holding of [...this.#held.values()].flatMap((held) => [...held])) {
      if (holding.process !== process) continue;
      this.endNotices.over(holding, 'killed', at);
      holding.over = 'killed';
      this.#held.get(holding.semaphore)?.delete(holding);
    }
  }

  #known(entry: HistoryEntry & { readonly permit: string; readonly semaphore: string }): Holding | undefined {
    const holding = this.#byId.get(entry.permit);
    if (!holding) this.#broken('H', entry, 'no process was granted it before');
    else if (holding.semaphore !== entry.semaphore) this.#broken('H', entry, formatHolding(holding));
    else if (holding.process !== entry.process && entry.event !== 'invoked')
      this.#broken('H', entry, formatHolding(holding));
    else return holding;
    return undefined;
  }

  #broken(
    rule: 'H' | 'S2',
    entry: HistoryEntry & { readonly permit: string; readonly semaphore: string },
    why: string,
  ): void {
    const { process, event, permit, semaphore } = entry;
    this.violations.add(rule, `${process} logged "${event}" of permit ${permit} of ${semaphore}: ${why}`, {
      semaphore,
      processes: [process],
    });
  }
}

function isSame(holding: Holding, { semaphore, process, slot, token }: EntryOf<'granted'>): boolean {
  return (
    holding.semaphore === semaphore && holding.process === process && holding.slot === slot && holding.token === token
  );
}

export function formatHolding({ process, permit, semaphore, slot, token }: Holding): string {
  return `${process} was granted permit ${permit} of ${semaphore} (slot ${slot}, token ${token})`;
}
