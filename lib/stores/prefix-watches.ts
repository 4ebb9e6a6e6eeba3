import type { RecordChange } from './store.js';

type OnChange = (change: RecordChange) => void;
interface PrefixWatch {
  readonly prefix: string;
  readonly onChange: OnChange;
}

/** The watches of one client of a store: who wants to hear of which keys. */
export class PrefixWatches {
  readonly #watches = new Set<PrefixWatch>();

  /** @returns a function that ends the watch; nothing is told afterwards */
  add(prefix: string, onChange: OnChange): () => Promise<void> {
    const watch = { prefix, onChange };
    this.#watches.add(watch);
    return async () => void this.#watches.delete(watch);
  }

  /** Whether anybody would be told of a change of `key`. */
  wants(key: string): boolean {
    return [...this.#watches].some(({ prefix }) => key.startsWith(prefix));
  }

  /** Tells all whom the change concerns; without a key it concerns everybody. */
  tell(change: RecordChange): void {
    for (const { prefix, onChange } of this.#watches) {
      if (change.key === undefined || change.key.startsWith(prefix)) onChange(change);
    }
  }

  clear(): void {
    this.#watches.clear();
  }
}
