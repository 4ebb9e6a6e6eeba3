import type { PrefixWatches } from '../prefix-watches.js';

/** Texts that are kept: the default of Hazelcast's ringbuffers. */
const CAPACITY = 10_000;

/** A journal in this process's memory. */
export class ArrayJournal {
  readonly #texts: string[] = [];

  append(texts: readonly string[]): void {
    this.#texts.push(...texts);
    this.#texts.splice(0, this.#texts.length - CAPACITY);
  }

  read(limit: number): string[] {
    return limit > 0 ? this.#texts.slice(-limit) : [];
  }
}

/** State that all clients of one `memory()` share: the texts, the clock, and each other's watches. */
export class MemoryCluster {
  readonly texts = new Map<string, string>();
  readonly #journals = new Map<string, ArrayJournal>();
  readonly #clients = new Set<PrefixWatches>();

  constructor(readonly clock: () => number) {}

  journal(name: string): ArrayJournal {
    const journal = this.#journals.get(name) ?? new ArrayJournal();
    this.#journals.set(name, journal);
    return journal;
  }

  join(watches: PrefixWatches): void {
    this.#clients.add(watches);
  }

  leave(watches: PrefixWatches): void {
    this.#clients.delete(watches);
  }

  /** One step of the event loop, so nothing comes between the comparison and the write. */
  compareAndSet(key: string, expected: string | undefined, next: string): boolean {
    if (this.texts.get(key) !== expected) return false;
    this.texts.set(key, next);
    return true;
  }

  /**
   * Later, as from any other store: a writer must not run its watchers' code inside its own call.
   *
   * @param own the writer's own watches, if they are left out
   */
  announce(key: string, text: string, own: PrefixWatches | undefined): void {
    queueMicrotask(() => {
      for (const watches of this.#clients) if (watches !== own) watches.tell({ key, text });
    });
  }
}
