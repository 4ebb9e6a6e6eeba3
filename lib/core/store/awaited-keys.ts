/** The keys that one client waits for, each with its number of waits. Undefined means all keys. */
export class AwaitedKeys {
  readonly #counts = new Map<string | undefined, number>();

  /** @returns a function that ends this wait; calling it again does nothing */
  add(key: string | undefined): () => void {
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const left = this.#counts.get(key)! - 1;
      if (left > 0) this.#counts.set(key, left);
      else this.#counts.delete(key);
    };
  }

  /** Whether this client waits for a change of `key`. */
  has(key: string): boolean {
    return this.#counts.has(key) || this.#counts.has(undefined);
  }

  /** Whether there is a wait for exactly `key` (undefined: for all keys). */
  isAwaited(key: string | undefined): boolean {
    return this.#counts.has(key);
  }

  [Symbol.iterator](): IterableIterator<string | undefined> {
    return this.#counts.keys();
  }
}
