import type { RecordChange } from './driver.js';

/** The watches of one client of a store, by prefixes of keys. Each hears of the changes below its prefix. */
export class PrefixWatches {
  readonly #watches = new Set<{ readonly prefix: string; readonly onChange: (change: RecordChange) => void }>();

  /** Begins a watch. @returns a function that ends the watch, as `watch()` of the driver wants it */
  add(prefix: string, onChange: (change: RecordChange) => void): () => Promise<void> {
    const watch = { prefix, onChange };
    this.#watches.add(watch);
    return async () => void this.#watches.delete(watch);
  }

  /** Whether a watch covers `key`. */
  wants(key: string): boolean {
    return [...this.#watches].some(({ prefix }) => key.startsWith(prefix));
  }

  /** Notifies the watches that cover the change. A change without a key concerns all watches. */
  tell(change: RecordChange): void {
    for (const { prefix, onChange } of this.#watches) {
      if (change.key === undefined || change.key.startsWith(prefix)) onChange(change);
    }
  }

  /** Ends all watches, because the driver is closed. */
  clear(): void {
    this.#watches.clear();
  }
}
