/** Default capacity of a journal. It would drop older entries anyway. */
const MOST_ENTRIES = 10_000;
/** Characters of all entries together. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** Maximum of one call. A remote store accepts bodies of at most 2 MB. */
const BATCH = { entries: 500, characters: 256 * 1024 };

/** Entries of a journal that are not in the store yet, oldest first. Drops the oldest entries above the limits. */
export class UnsentEntries {
  #texts: string[] = [];
  #characters = 0;
  #dropped = 0;

  get count(): number {
    return this.#texts.length;
  }

  /** Whether a batch is full. */
  get hasBatch(): boolean {
    return this.#texts.length >= BATCH.entries || this.#characters >= BATCH.characters;
  }

  /** Returns how many entries were dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#characters += text.length;
    this.#dropOldest();
  }

  /** Removes and returns the oldest entries: as many as fit into one call, but at least one if there is any. */
  takeBatch(): string[] {
    let count = 0;
    let characters = 0;
    while (count < Math.min(this.#texts.length, BATCH.entries)) {
      const { length } = this.#texts[count]!;
      if (count > 0 && characters + length > BATCH.characters) break;
      characters += length;
      count++;
    }
    this.#characters -= characters;
    return this.#texts.splice(0, count);
  }

  /** Puts a batch back to the front, because it was not written. */
  putBack(batch: readonly string[]): void {
    this.#texts.unshift(...batch);
    for (const { length } of batch) this.#characters += length;
    this.#dropOldest();
  }

  #dropOldest(): void {
    let count = 0;
    while (this.#texts.length - count > MOST_ENTRIES || this.#characters > MOST_CHARACTERS) {
      this.#characters -= this.#texts[count]!.length;
      count++;
    }
    this.#texts.splice(0, count);
    this.#dropped += count;
  }
}
