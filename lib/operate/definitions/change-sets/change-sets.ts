import {
  CorruptRecordError,
  type DefinitionChange,
  InvalidOptionsError,
  type SemaphoreRecord,
  intendedDefinition,
  messageOf,
  word,
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
  havePages,
  nextRoot,
  pageKey,
  pagesOf,
  withListed,
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
 *   root: slots are reserved ─▶ pages ─▶ root: the pages are written ─▶ the definitions, one by one
 * ```
 *
 * So a process that dies after any step leaves a set that says which changes were meant, and the state before each. Which of
 * them were made, the records say: the last change of a definition has the listed id.
 *
 * Slots are reserved by a compare-and-set before they are written. If a process then stands still while hundreds of other sets
 * are listed, one of these gets its slots. So for each slot the process:
 *
 * 1. reads the text in it;
 * 2. asks the root whether the slot is still its own;
 * 3. writes its page only if the text is still the one that it read.
 *
 * A set that gets the slot after step 2 writes it, too. If that comes first, step 3 fails. If it comes later, it replaces this page,
 * and the root refuses to note it as written. Then no change is made.
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
   * Lists changes. Call it before the first of them is made. If the set exists, they are added to it.
   *
   * @param person the author, who may add only to a set of their own. Absent for code, which may add to any
   * @returns the changes in the given order
   * @throws StoreUnavailableError if they are not listed: then nothing was changed
   * @throws InvalidOptionsError if they are too many for one call, or the set is another person's
   * @throws NewerRecordError
   */
  async list(set: NewSet, changes: readonly PlannedChange[], person?: string): Promise<readonly ListedChange[]> {
    if (changes.length === 0) return [];
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
      const refs = await this.#reserve(set, person, counts, listing);
      const texts = refs.map((ref, index) => [ref, pages[index]!] as const);
      await forEachLimit(texts, ([ref, page]) => this.#write(ref, page));
      await this.#noteListed(refs, listing);
      const before = refs[0]?.[1] ?? 0;
      return entries.map((entry, index) => ({ ...entry, part: before + index + 1 }));
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
      // A process that died before all pages were written changed nothing that they list.
      if (!read && ref[4] === 'listed') missing += ref[2];
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

  #reserve(
    set: NewSet,
    person: string | undefined,
    counts: readonly number[],
    listing: string,
  ): Promise<readonly PageRef[]> {
    return this.#change((record, view, nonce) => {
      expectOwn(record?.sets ?? [], set, person);
      const { sets, pages } = withPages(record?.sets ?? [], set, counts, { listing, now: view.now });
      // A second reservation would leave the pages of the first unwritten. Two tries may have reserved different slots.
      const isDoneIn = (later: ChangeSetsRecord | undefined) => havePages(later?.sets ?? [], pages);
      return { write: nextRoot(record, sets, view, nonce), done: () => pages, isDoneIn, notify: 'none' };
    });
  }

  /** Notes that the pages are written. @throws StoreUnavailableError if the root no longer has them */
  async #noteListed(refs: readonly PageRef[], listing: string): Promise<void> {
    const isNoted = await this.#change<boolean>((record, view, nonce) => {
      const sets = record?.sets ?? [];
      if (!havePages(sets, refs)) return { result: false };
      return { write: nextRoot(record, withListed(sets, listing), view, nonce), done: () => true, notify: 'none' };
    });
    if (!isNoted) throw dropped();
  }

  /** Reads from the store whether the root still has a page. Pages that are written at the same time share a look. */
  async #hasPage(ref: PageRef): Promise<boolean> {
    await this.#orRepaired(() => this.root.look());
    return havePages(this.root.known?.sets ?? [], [ref]);
  }

  #change<T>(plan: Plan<ChangeSetsRecord, T>): Promise<T> {
    return this.#orRepaired(() => this.root.transact(plan));
  }

  /** A root that can't be read must not stop a pause of everything: what it said of sets and windows is lost in any case. */
  async #orRepaired<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof CorruptRecordError)) throw error;
      const isRepaired = await this.root.repair((known, view, nonce) =>
        nextRoot(known, known?.sets ?? [], view, nonce),
      );
      if (!isRepaired) throw error;
      this.#report('read the record of maintenance and changes of many, which was replaced', error);
      return work();
    }
  }

  async #write(ref: PageRef, page: readonly SetEntry[]): Promise<void> {
    await Slices.of(this.context.nodeClock).turn(LONGEST_PAGE);
    const text = encodePage(ref, page);
    return this.#pages.change<void>(pageKey(ref), async (found) => {
      if (found === text) return { result: undefined };
      if (!(await this.#hasPage(ref))) throw dropped();
      return { write: text, done: () => undefined };
    });
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

/** @throws InvalidOptionsError if a set would go on that is of another kind, or of another person */
function expectOwn(sets: readonly SetHead[], { id, kind }: NewSet, person: string | undefined): void {
  const former = sets.find((each) => each.id === id);
  if (!former || (former.kind === kind && (person === undefined || former.by === person))) return;
  throw new InvalidOptionsError('a change of many semaphores', [
    `bulk: ${word(id)} is the ${former.kind} of ${word(former.by)}: leave it out to begin a change of your own`,
  ]);
}

function dropped(): StoreUnavailableError {
  return new StoreUnavailableError(
    'the change was not begun: the store no longer has its list, because this process stood still for long, or the list was replaced. Repeat the call',
  );
}

function tooMany({ length }: readonly PlannedChange[]): InvalidOptionsError {
  return new InvalidOptionsError('a change of many semaphores', [
    `${length} changes are too many for one call: set a limit, and repeat the call to continue`,
  ]);
}
