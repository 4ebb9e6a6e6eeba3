/** A line of a book. */
export interface Entry {
  /** Id of the task that wrote it: the key. */
  readonly id: string;
  /** Fencing token of the attempt that wrote it. */
  readonly token: number;
  /** Name of the node that wrote it. */
  readonly node: string;
  /** Anything else. */
  readonly [field: string]: unknown;
}

/**
 * Books with one line per id. A task may run twice, and then writes twice, but the second write changes nothing. A database
 * does this with a unique key:
 * `INSERT INTO letters (id, token, text) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING`.
 */
export class Ledger {
  readonly #books = new Map<string, Map<string, Entry>>();

  /** @returns whether it was written; false if the book has a line of this id */
  write(book: string, entry: Entry): boolean {
    const entries = this.#books.get(book) ?? new Map<string, Entry>();
    this.#books.set(book, entries);
    if (entries.has(entry.id)) return false;
    entries.set(entry.id, entry);
    return true;
  }

  /** The lines of a book, in the order of their writes. */
  read(book: string): Entry[] {
    return [...(this.#books.get(book)?.values() ?? [])];
  }
}
