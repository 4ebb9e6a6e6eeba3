/** As many as a ringbuffer of Hazelcast holds by default. */
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
