/** Takes a hint that was added while it waited. */
type Poller = (hint: string) => void;

/** Number of taken hints that are kept at the front, before the rest is moved. */
const MOST_TAKEN = 10_000;

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

  /** Removes each of these hints once. */
  remove(hints: readonly string[]): void {
    for (const hint of hints) {
      const place = this.#hints.indexOf(hint, this.#taken);
      if (place >= 0) this.#hints.splice(place, 1);
    }
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
