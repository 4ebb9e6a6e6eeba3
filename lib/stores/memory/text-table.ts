import type { TextEntry } from '../../core/store/driver.js';

/** Texts under keys. Synchronous, so nothing can happen between a comparison and its write. */
export class TextTable {
  readonly texts = new Map<string, string>();
  /** Called with each text that is written. For tests. */
  onWrite?: (text: string) => void;

  get(key: string): string | undefined {
    return this.texts.get(key);
  }

  /** A key without a text is left out. */
  getMany(keys: readonly string[]): Map<string, string> {
    return new Map(keys.flatMap((key) => (this.texts.has(key) ? [[key, this.texts.get(key)!]] : [])));
  }

  /** @param next undefined: removes the text */
  compareAndSet(key: string, expected: string | undefined, next: string | undefined): boolean {
    if (this.texts.get(key) !== expected) return false;
    if (next === undefined) this.texts.delete(key);
    else this.texts.set(key, next);
    this.changed(key, expected, next);
    if (next !== undefined) this.onWrite?.(next);
    return true;
  }

  /** Called after each write. */
  protected changed(_key: string, _former: string | undefined, _next: string | undefined): void {}
}

/** Texts under keys, with their order. */
export class OrderedTable extends TextTable {
  readonly #ordered = new OrderedEntries();

  range(from: string, to: string, limit: number): TextEntry[] {
    return this.#ordered.range(from, to, limit);
  }

  protected override changed(key: string, former: string | undefined, next: string | undefined): void {
    if (former !== undefined) this.#ordered.delete({ key, text: former });
    if (next !== undefined) this.#ordered.add({ key, text: next });
  }
}

/** Largest number of entries in one chunk. */
const CHUNK = 1000;

/**
 * Entries in the order of their texts; equal texts in the order of their keys. They are kept in sorted chunks, because
 * an insertion into one sorted array of 1,000,000 entries would move all entries behind it.
 */
class OrderedEntries {
  /** No chunk is empty. */
  readonly #chunks: TextEntry[][] = [];

  add(entry: TextEntry): void {
    // The first chunk that ends at or after the entry; behind all chunks, the last one.
    const place = Math.min(this.#chunkOf(entry), this.#chunks.length - 1);
    const chunk = this.#chunks[place];
    if (!chunk) return void this.#chunks.push([entry]);
    chunk.splice(placeIn(chunk, entry), 0, entry);
    if (chunk.length > CHUNK) this.#chunks.splice(place + 1, 0, chunk.splice(CHUNK / 2));
  }

  /** The entry must be there. */
  delete(entry: TextEntry): void {
    const place = this.#chunkOf(entry);
    const chunk = this.#chunks[place]!;
    chunk.splice(placeIn(chunk, entry), 1);
    if (chunk.length === 0) this.#chunks.splice(place, 1);
  }

  /** Entries with `from <= text < to`, at most `limit`, beginning with the smallest text. */
  range(from: string, to: string, limit: number): TextEntry[] {
    const first = { key: '', text: from };
    const found: TextEntry[] = [];
    for (let place = this.#chunkOf(first); place < this.#chunks.length; place++) {
      const chunk = this.#chunks[place]!;
      for (let index = placeIn(chunk, first); index < chunk.length; index++) {
        const entry = chunk[index]!;
        if (found.length >= limit || entry.text >= to) return found;
        found.push(entry);
      }
    }
    return found;
  }

  #chunkOf(entry: TextEntry): number {
    return firstIndex(this.#chunks.length, (index) => !isBefore(this.#chunks[index]!.at(-1)!, entry));
  }
}

/** Index of the first entry that is not before `entry`. */
function placeIn(chunk: readonly TextEntry[], entry: TextEntry): number {
  return firstIndex(chunk.length, (index) => !isBefore(chunk[index]!, entry));
}

/** JavaScript compares UTF-16 units, as the SPI wants. */
function isBefore(one: TextEntry, other: TextEntry): boolean {
  return one.text < other.text || (one.text === other.text && one.key < other.key);
}

/** Binary search. @param isReached false for all indexes before the result, and true from there on */
function firstIndex(length: number, isReached: (index: number) => boolean): number {
  let [from, to] = [0, length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (isReached(middle)) to = middle;
    else from = middle + 1;
  }
  return from;
}
