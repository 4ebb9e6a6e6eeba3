import {
  CorruptRecordError,
  type DefinitionChange,
  InvalidOptionsError,
  type SemaphoreRecord,
  intendedDefinition,
  messageOf,
} from '../../../core/decision/index.js';
import { forEachLimit } from '../../../core/async/for-each-limit.js';
import { Slices, eachInPieces, inSlices } from '../../../core/async/slices.js';
import type { Cell } from '../../../core/cell/cell.js';
import type { Plan } from '../../../core/cell/plan.js';
import { TextCells } from '../../../core/cell/text-cells.js';
import type { Context } from '../../../core/context/context.js';
import { StoreUnavailableError, UnknownOutcomeError } from '../../../core/store/index.js';
import {
  type ChangeSetsRecord,
  LONGEST_PAGE,
  MOST_NEW_PAGES,
  type NewSet,
  type PageRef,
  type SetEntry,
  type SetHead,
  decodePage,
  droppedFrom,
  encodePage,
  hasPage,
  nextRoot,
  pageKey,
  pagesOf,
  withDone,
  withPages,
} from './change-set.js';

/** A change of one definition that is to be listed. */
export interface PlannedChange {
  readonly name: string;
  readonly action: DefinitionChange['kind'];
  /** The record before the change: undefined if there is none, an error if it can't be read. */
  readonly record: SemaphoreRecord | Error | undefined;
  /** Id of the change. Default: a new one. */
  readonly change?: string | undefined;
}

/** A listed change: it must be made with this id, and only if the definition is as listed. */
export interface ListedChange extends SetEntry {
  /** Number of this change in its set, from 1. */
  readonly part: number;
}

/** The changes that a call has listed, in the order in which it gave them. */
export interface Listing {
  readonly changes: readonly ListedChange[];
  /** Notes that all of them were tried. A failure is reported: the changes are made, and can be undone. */
  finish(): Promise<void>;
}

const NOTHING: Listing = { changes: [], finish: () => Promise.resolve() };

/** A change of many with all that it listed. */
export interface ChangeSet extends Omit<SetHead, 'pages'> {
  readonly entries: readonly SetEntry[];
  /** Number of changes that it no longer has, although they may be in force. */
  readonly missing: number;
}

/**
 * The changes of many definitions that can be taken back. Each one lists its changes before it makes the first of them:
 *
 * ```
 *   reserve slots in the root ─▶ write the pages ─▶ change the definitions, one by one ─▶ root: the pages are done
 * ```
 *
 * So a process that dies after any step leaves a set that says which changes were meant, and the state before each. Which of
 * them were made, the records say: the last change of a definition has the listed id. Slots are reserved by a
 * compare-and-set before they are written, so a page has one writer.
 */
export class ChangeSets {
  readonly #pages: TextCells;

  constructor(
    private readonly root: Cell<ChangeSetsRecord>,
    private readonly context: Context,
  ) {
    this.#pages = new TextCells(context.store.records, context, { notify: 'none' });
  }

  /**
   * Lists changes. Call it before the first of them is made. A set that exists goes on.
   *
   * @throws StoreUnavailableError if they are not listed: then nothing was changed
   * @throws InvalidOptionsError if they are too many for one call
   * @throws NewerRecordError
   */
  async list(set: NewSet, changes: readonly PlannedChange[]): Promise<Listing> {
    if (changes.length === 0) return NOTHING;
    const { nodeClock } = this.context;
    const entries: SetEntry[] = [];
    await inSlices(
      eachInPieces(changes, (change) => entries.push(this.#entryOf(change))),
      nodeClock,
    );
    const pages = await inSlices(pagesOf(entries), nodeClock);
    if (pages.length > MOST_NEW_PAGES) throw tooMany(changes);
    try {
      const listing = this.context.random.id();
      const counts = pages.map(({ length }) => length);
      const refs = await this.#reserve(set, counts, listing);
      const texts = refs.map((ref, index) => [ref, pages[index]!] as const);
      await forEachLimit(texts, ([ref, page]) => this.#write(ref, page));
      const before = refs[0]?.[1] ?? 0;
      const listed = entries.map((entry, index) => ({ ...entry, part: before + index + 1 }));
      return { changes: listed, finish: () => this.#finish(listing) };
    } catch (error) {
      if (!(error instanceof UnknownOutcomeError)) throw error;
      // The listing may be there. But no definition was changed.
      throw new StoreUnavailableError(`the change was not begun: ${messageOf(error)}`, { cause: error });
    }
  }

  /** @returns undefined if there is no such set, or it is no longer kept. @throws StoreUnavailableError, NewerRecordError */
  async find(id: string): Promise<ChangeSet | undefined> {
    const head = await this.#head(id);
    if (!head) return undefined;
    const { pages, ...rest } = head;
    const texts = await this.#pages.readMany(pages.map(pageKey));
    const entries: SetEntry[] = [];
    let missing = droppedFrom(head);
    const slices = Slices.of(this.context.nodeClock);
    for (const ref of pages) {
      const text = texts.get(pageKey(ref));
      await slices.turn(text?.length);
      const read = this.#decoded(ref, text);
      for (const entry of read ?? []) entries.push(entry);
      // A process that died before it wrote the page changed nothing that it lists.
      if (!read && ref[4] === 'done') missing += ref[2];
    }
    return { ...rest, entries, missing };
  }

  /** A root that can't be read has no set, and must not stop the undo of a single change. */
  async #head(id: string): Promise<SetHead | undefined> {
    try {
      return await this.root.transact((record) => ({ result: record?.sets.find((each) => each.id === id) }));
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error;
      this.#report('read the record of maintenance and changes of many', error);
      return undefined;
    }
  }

  #entryOf({ name, action, record, change = this.context.random.id() }: PlannedChange): SetEntry {
    if (record instanceof Error) return { name, change, action, revision: 1 };
    const before = { definition: record && intendedDefinition(record), pause: record?.pause };
    return { name, change, action, revision: (record?.revision ?? 0) + 1, before };
  }

  #reserve(set: NewSet, counts: readonly number[], listing: string): Promise<readonly PageRef[]> {
    return this.#orRepaired((record, view, nonce) => {
      const { sets, pages } = withPages(record?.sets ?? [], set, counts, { listing, now: view.now });
      // A second reservation would leave the pages of the first unwritten. Two tries may have reserved different slots.
      const isDoneIn = (later: ChangeSetsRecord | undefined) => pages.every((page) => hasPage(later?.sets ?? [], page));
      return { write: nextRoot(record, sets, view, nonce), done: () => pages, isDoneIn, notify: 'none' };
    });
  }

  async #finish(listing: string): Promise<void> {
    try {
      await this.root.transact<void>((record, view, nonce) => {
        const sets = record?.sets ?? [];
        if (!sets.some(({ pages }) => pages.some(([, , , each]) => each === listing))) return { result: undefined };
        const write = nextRoot(record, withDone(sets, listing), view, nonce);
        return { write, done: () => undefined, notify: 'none' };
      });
    } catch (error) {
      this.#report('note the end of a change of many', error);
    }
  }

  /** A root that can't be read must not stop a pause of everything: what it said of sets and windows is lost in any case. */
  async #orRepaired<T>(plan: Plan<ChangeSetsRecord, T>): Promise<T> {
    try {
      return await this.root.transact(plan);
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error;
      const isRepaired = await this.root.repair((known, view, nonce) =>
        nextRoot(known, known?.sets ?? [], view, nonce),
      );
      if (!isRepaired) throw error;
      this.#report('read the record of maintenance and changes of many, which was replaced', error);
      return this.root.transact(plan);
    }
  }

  async #write(ref: PageRef, page: readonly SetEntry[]): Promise<void> {
    await Slices.of(this.context.nodeClock).turn(LONGEST_PAGE);
    const text = encodePage(ref, page);
    return this.#pages.change<void>(pageKey(ref), (found) =>
      found === text ? { result: undefined } : { write: text, done: () => undefined },
    );
  }

  #decoded(ref: PageRef, text: string | undefined): SetEntry[] | undefined {
    try {
      return text === undefined ? undefined : decodePage(ref, text);
    } catch (error) {
      this.#report('read a page of a change of many', error);
      return undefined;
    }
  }

  #report(action: string, error: unknown): void {
    this.context.events.next({ type: 'problem', action, error });
  }
}

function tooMany({ length }: readonly PlannedChange[]): InvalidOptionsError {
  return new InvalidOptionsError('a change of many semaphores', [
    `${length} changes are too many for one call: set a limit, and repeat the call to continue`,
  ]);
}
