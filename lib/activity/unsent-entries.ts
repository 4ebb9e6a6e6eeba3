/** Size of a journal: older entries would be dropped from it anyway. */
const MOST_ENTRIES = 10_000;
/** Characters of all that are kept. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** The most that one call of a store takes: the body of a remote store's call ends at 2 MB. */
const BATCH = { entries: 500, characters: 256 * 1024 };

/** Entries of a journal that are not in the store yet, oldest first. Beyond the limits the oldest are dropped. */
export class UnsentEntries {
  #texts: string[] = [];
  #characters = 0;
  #dropped = 0;

  get count(): number {
    return this.#texts.length;
  }

  /** Whether there are enough for a batch that need not wait for more. */
  get hasBatch(): boolean {
    return this.#texts.length >= BATCH.entries || this.#characters >= BATCH.characters;
  }

  /** How many were dropped since the last look. */
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

  /** Takes the oldest: as many as one call takes, and at least one if there is any. */
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

  /** Puts a batch that was not written back to its place. */
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
