import type { RecordChange } from './driver.js';

type OnChange = (change: RecordChange) => void;
interface PrefixWatch {
  readonly prefix: string;
  readonly onChange: OnChange;
}

/** The watches of one client of a store, by prefixes of keys. */
export class PrefixWatches {
  readonly #watches = new Set<PrefixWatch>();

  /** @returns a function that ends the watch */
  add(prefix: string, onChange: OnChange): () => Promise<void> {
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

  clear(): void {
    this.#watches.clear();
  }
}
