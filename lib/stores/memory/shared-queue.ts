/** Takes a hint that was added while it waited. */
type Poller = (hint: string) => void;

/** Number of taken hints that are kept at the front, before the rest is moved. */
const MOST_TAKEN = 10_000;

/** Hints at each end among which those to remove are searched: a removal must not take long, however many there are. */
const MOST_SEARCHED = 10_000;

/** The hints of one queue, and the pollers that wait for one. If pollers wait, there are no hints. */
export class SharedQueue {
  #hints: string[] = [];
  /** Number of hints at the front that are taken already: `shift` of a long array would move all others. */
  #taken = 0;
  readonly #pollers = new Set<Poller>();

  /** Gives each hint to the poller that has waited longest; without pollers, adds it at the end. */
  offer(hints: readonly string[]): void {
    for (const hint of hints) {
      const [poller] = this.#pollers;
      if (!poller) {
        this.#hints.push(hint);
        continue;
      }
      this.#pollers.delete(poller);
      poller(hint);
    }
  }

  peek(): string | undefined {
    return this.#hints[this.#taken];
  }

  get size(): number {
    return this.#hints.length - this.#taken;
  }

  drain(most: number): string[] {
    const drained = this.#hints.slice(this.#taken, this.#taken + Math.max(most, 0));
    this.#taken += drained.length;
    if (this.#taken >= Math.min(this.#hints.length, MOST_TAKEN)) {
      this.#hints = this.#hints.slice(this.#taken);
      this.#taken = 0;
    }
    return drained;
  }

  /** Removes each of these hints once, if it is near one of the ends. */
  remove(hints: readonly string[]): void {
    const wanted = new Map<string, number>();
    for (const hint of hints) wanted.set(hint, (wanted.get(hint) ?? 0) + 1);
    const isKept = (hint: string) => {
      const left = wanted.get(hint) ?? 0;
      if (left > 0) wanted.set(hint, left - 1);
      return left === 0;
    };
    const search = (from: number) => {
      const near = this.#hints.slice(from, from + MOST_SEARCHED);
      const kept = near.filter(isKept);
      if (kept.length < near.length) this.#hints.splice(from, near.length, ...kept);
    };
    search(this.#taken);
    search(Math.max(this.#taken, this.#hints.length - MOST_SEARCHED));
  }

  /**
   * Calls `poller` once, with the next hint that is added.
   *
   * @returns a function that ends the wait
   */
  wait(poller: Poller): () => void {
    this.#pollers.add(poller);
    return () => void this.#pollers.delete(poller);
  }
}
