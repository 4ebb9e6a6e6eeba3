/** Text, or an entry that knows how long its text is. */
export interface Sized {
  /** Characters. */
  readonly length: number;
}

/** Default capacity of a journal. It would drop older entries anyway. */
const MOST_ENTRIES = 10_000;
/** Characters of all entries together. */
const MOST_CHARACTERS = 8 * 1024 * 1024;
/** Maximum of one call. A remote store accepts bodies of at most 5 MB. */
const BATCH = { entries: 500, characters: 256 * 1024 };

/** Entries that are not in the store or the archive yet, oldest first. Drops the oldest entries above the limits. */
export class UnsentEntries<Entry extends Sized = string> {
  #entries: Entry[] = [];
  #characters = 0;
  #dropped = 0;

  get count(): number {
    return this.#entries.length;
  }

  /** Whether a batch is full. */
  get hasBatch(): boolean {
    return this.#entries.length >= BATCH.entries || this.#characters >= BATCH.characters;
  }

  /** Number of entries that were dropped since the last call of {@link takeDropped}. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Returns how many entries were dropped since the last call. */
  takeDropped(): number {
    const dropped = this.#dropped;
    this.#dropped = 0;
    return dropped;
  }

  add(entry: Entry): void {
    this.#entries.push(entry);
    this.#characters += entry.length;
    this.#dropOldest();
  }

  /** Removes and returns the oldest entries: as many as fit into one call, but at least one if there is any. */
  takeBatch(): Entry[] {
    let count = 0;
    let characters = 0;
    while (count < Math.min(this.#entries.length, BATCH.entries)) {
      const { length } = this.#entries[count]!;
      if (count > 0 && characters + length > BATCH.characters) break;
      characters += length;
      count++;
    }
    this.#characters -= characters;
    return this.#entries.splice(0, count);
  }

  /** Puts a batch back to the front, because it was not written. */
  putBack(batch: readonly Entry[]): void {
    this.#entries.unshift(...batch);
    for (const { length } of batch) this.#characters += length;
    this.#dropOldest();
  }

  #dropOldest(): void {
    let count = 0;
    while (this.#entries.length - count > MOST_ENTRIES || this.#characters > MOST_CHARACTERS) {
      this.#characters -= this.#entries[count]!.length;
      count++;
    }
    this.#entries.splice(0, count);
    this.#dropped += count;
  }
}
