import { writeFile } from 'node:fs/promises';
import { sharedNow } from '../../apps/say.js';
import type { Write } from '../cluster/guarded-resource.js';
import type { GrantedEntry, HistoryEntry, OutsideEntry } from '../../proof/history/history.js';

/** An entry without its time and process. */
type Content<E> = E extends unknown ? Omit<E, 'at' | 'process'> : never;

interface Holding {
  readonly process: string;
  readonly semaphore: string;
  readonly slot: number;
  /** End of the permit as the holder knows it, by the shared clock. */
  readonly until: number;
}

/** Takes down one history as it happens, and knows who holds what by it. */
export class Recorder {
  readonly #entries: HistoryEntry[] = [];
  readonly #held = new Map<string, Holding>();

  /** In the order of time. */
  get entries(): HistoryEntry[] {
    return this.#entries.toSorted((one, other) => one.at - other.at);
  }

  add(entry: HistoryEntry): void {
    this.#entries.push(entry);
    this.#follow(entry);
  }

  /** Logs an outside event of a process, now. */
  outside(process: string, content: OutsideEntry): void {
    this.add({ at: sharedNow(), process, ...content });
  }

  written(writes: readonly Write[]): void {
    for (const { at, place, token, by, isRefused } of writes) {
      const [semaphore, slot] = place.split('/') as [string, string];
      const content: Content<HistoryEntry> = {
        event: 'written',
        semaphore,
        slot: Number(slot),
        token,
        isApplied: !isRefused,
      };
      this.#entries.push({ at, process: by ?? 'unknown', ...content });
    }
  }

  /** Holders of permits of that semaphore, by all entries so far; those with most time left first. */
  holders(semaphore: string, now = sharedNow()): Holding[] {
    return [...this.#held.values()]
      .filter((holding) => holding.semaphore === semaphore && holding.until > now)
      .toSorted((one, other) => other.until - one.until);
  }

  grants(semaphore: string, since: number): (HistoryEntry & GrantedEntry)[] {
    return this.#entries.filter(
      (entry): entry is HistoryEntry & GrantedEntry =>
        entry.event === 'granted' && entry.semaphore === semaphore && entry.at >= since,
    );
  }

  /** When the holder said that a permit ended, or began to give it back; Infinity while it did neither. */
  endOf(permit: string): number {
    const isEnd = (entry: HistoryEntry) =>
      (entry.event === 'ended' || (entry.event === 'invoked' && entry.verb === 'release')) && entry.permit === permit;
    return this.#entries.find(isEnd)?.at ?? Infinity;
  }

  /** One entry a line. */
  async save(path: string): Promise<void> {
    await writeFile(path, this.entries.map((entry) => `${JSON.stringify(entry)}\n`).join(''));
  }

  #follow(entry: HistoryEntry): void {
    const { process, at } = entry;
    if (entry.event === 'granted') {
      const { semaphore, slot, remaining } = entry;
      this.#held.set(entry.permit, { process, semaphore, slot, until: at + remaining });
    } else if (entry.event === 'refreshed') {
      const held = this.#held.get(entry.permit);
      if (held) this.#held.set(entry.permit, { ...held, until: at + entry.remaining });
    } else if (entry.event === 'ended' || (entry.event === 'invoked' && entry.verb === 'release')) {
      this.#held.delete(entry.permit!);
    } else if (entry.event === 'killed') {
      for (const [permit, held] of this.#held) if (held.process === process) this.#held.delete(permit);
    }
  }
}
