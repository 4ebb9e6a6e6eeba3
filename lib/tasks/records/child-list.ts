import { z } from 'zod';
import { decodeStored } from '../../core/decision/index.js';
import type { TextCells } from '../../core/cell/text-cells.js';
import { SharedWork } from '../../core/async/shared-work.js';
import type { Incarnation } from '../rules/task.js';
import { groupId } from '../rules/task-id.js';
import { FAMILY } from '../rules/sub-name.js';

const VERSION = 1;
/** Entries of one page: each addition writes the last page again. */
export const PAGE_ENTRIES = 128;

const pageSchema = z.strictObject({
  v: z.literal(VERSION),
  nonce: z.string().min(1).max(100),
  entries: z.array(z.string().min(1).max(500)).max(PAGE_ENTRIES),
  isSealed: z.literal(true).optional(),
});

interface ListPage {
  readonly entries: readonly string[];
  readonly isSealed?: true | undefined;
}

interface ChildListParts {
  readonly texts: TextCells;
  /** A nonce. */
  readonly id: () => string;
}

/**
 * The sub-tasks of one life of a task, in the order in which they were announced. An entry is added before its sub-task is
 * created. So a re-run of the handler gives each sub-task the number of the first run, and a sub-task is never unknown to
 * its parent.
 *
 * The list is sealed when the parent's handler has ended: in its first page that has room. An attempt that is late fails to
 * write this page, or to create it.
 */
export class ChildList {
  readonly #numbers = new Map<string, number>();
  readonly #additions = new SharedWork<string>((_key, entries) => this.#add(entries));
  /** The page after all full ones. */
  #page = 0;
  #text: string | undefined;
  #content: ListPage = { entries: [] };
  #isRead = false;

  constructor(
    private readonly family: Incarnation,
    private readonly parts: ChildListParts,
  ) {}

  /** Entries by their numbers, which begin with 1, as far as they were read. */
  get numbers(): ReadonlyMap<string, number> {
    return this.#numbers;
  }

  /**
   * Adds an entry, if it is not there.
   *
   * @returns its number; undefined if the list is sealed without it
   * @throws StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  async numberOf(entry: string): Promise<number | undefined> {
    if (!this.#numbers.has(entry)) await this.#additions.share('', entry);
    return this.#numbers.get(entry);
  }

  /** From now on no attempt adds an entry. Idempotent. @throws as {@link numberOf} */
  async seal(): Promise<void> {
    await this.#read();
    while (!this.#content.isSealed) await this.#write({ ...this.#content, isSealed: true });
  }

  /** The entries of one page, for people; undefined if there is no such page. @throws as {@link numberOf} */
  async entriesOf(page: number): Promise<readonly string[] | undefined> {
    const text = await this.parts.texts.read(this.#key(page));
    return text === undefined ? undefined : decodeStored(pageSchema, VERSION, 'a list of sub-tasks', text).entries;
  }

  /** Removes all pages. @param entries number of entries, if it is known */
  async remove(entries: number): Promise<void> {
    for (let page = Math.floor(entries / PAGE_ENTRIES); page >= 0; page--) {
      const key = this.#key(page);
      const text = await this.parts.texts.read(key);
      if (text !== undefined) await this.parts.texts.write(key, text, undefined);
    }
  }

  async #add(entries: readonly string[]): Promise<void> {
    await this.#read();
    const wanted = [...new Set(entries)];
    // All before this place are in the list. So each page costs no look at all that are wanted.
    for (let place = 0; !this.#content.isSealed;) {
      while (place < wanted.length && this.#numbers.has(wanted[place]!)) place++;
      const room = PAGE_ENTRIES - this.#content.entries.length;
      const missing = wanted.slice(place, place + room).filter((entry) => !this.#numbers.has(entry));
      if (missing.length === 0) return;
      await this.#write({ entries: [...this.#content.entries, ...missing] });
    }
  }

  async #read(): Promise<void> {
    if (this.#isRead) return;
    this.#take(await this.parts.texts.read(this.#key(this.#page)));
    await this.#skipFull();
    this.#isRead = true;
  }

  /**
   * Writes the present page once. What comes after it is decided by the callers, not by `TextCells.change()`: this object keeps the
   * text between its calls, and after another attempt's write the rest may belong into the next page, which has another key.
   */
  async #write(content: ListPage): Promise<void> {
    const text = JSON.stringify({ v: VERSION, nonce: this.parts.id(), ...content });
    const hadPage = this.#text !== undefined;
    const written = await this.parts.texts.write(this.#key(this.#page), this.#text, text);
    if (written.isWritten) this.#take(text);
    // The parent is over, and was forgotten.
    else if (hadPage && written.found === undefined) this.#content = { entries: [], isSealed: true };
    else this.#take(written.found);
    await this.#skipFull();
  }

  async #skipFull(): Promise<void> {
    while (this.#content.entries.length === PAGE_ENTRIES) {
      this.#page++;
      this.#take(await this.parts.texts.read(this.#key(this.#page)));
    }
  }

  #take(text: string | undefined): void {
    this.#text = text;
    this.#content =
      text === undefined ? { entries: [] } : decodeStored(pageSchema, VERSION, 'a list of sub-tasks', text);
    for (const [index, entry] of this.#content.entries.entries()) {
      this.#numbers.set(entry, this.#page * PAGE_ENTRIES + index + 1);
    }
  }

  #key(page: number): string {
    return `list:${this.family.incarnation}:${page}:${groupId(FAMILY, this.family.group)}`;
  }
}
