import { Slices } from '../core/async/slices.js';
import type { Context } from '../core/context/context.js';
import { writeOnce } from '../core/cell/call.js';
import { TextCells } from '../core/cell/text-cells.js';
import { CorruptRecordError, isDoubted } from '../core/decision/index.js';
import { answerWithin } from '../core/store/answer-within.js';
import type { Notify } from '../core/store/index.js';
import { ALLOCATION_PREFIX } from './group-options.js';
import type { KnownPages } from './round/owner-map.js';
import type { CommitRound } from './round/round.js';
import {
  decodeAllocationRoot,
  decodeLimboPage,
  decodeOwnedPage,
  encodeAllocationRoot,
  encodePage,
} from './map/map.codec.js';
import { type LimboPage, type OwnedPage, slotOf } from './map/page.js';
import { type AllocationRoot, pageKeysOf } from './map/root.js';

/** Pages that are written at once: their texts are made in one turn of the event loop. */
const AT_ONCE = 16;

/** The root as the store has it. */
export interface StoredRoot {
  readonly text: string | undefined;
  readonly root: AllocationRoot | undefined;
}

/**
 * The owner map of one group in the store, and the pages of it that this node remembers.
 *
 * The root has no `Cell`, whose calls look after an unclear write, plan again, and restore a lost record by themselves. A
 * round can't be planned again inside such a call: it takes several turns of the event loop, and its safety depends on
 * pages and members that were read after the root. Only `planRound` may restore a root: it needs the members' acknowledgements,
 * and the term of the node that decides. So each write here is sent once, by the engine's rule for unclear answers
 * (`writeOnce`), and the next round begins with a look. {@link confirm} is the write that proves what a look has shown.
 */
export class MapStore {
  readonly rootKey: string;
  readonly owned = new Map<string, OwnedPage>();
  readonly limbo = new Map<string, LimboPage>();
  readonly #pagePrefix: string;
  readonly #texts: TextCells;
  /** The root that was reported as unreadable. */
  #unreadable?: string;
  /** Pages that were reported as unreadable. */
  readonly #reported = new Set<string>();
  #last: StoredRoot = { text: undefined, root: undefined };
  /** Nonce of the last root that an answered write has proven. */
  #confirmed?: string;

  constructor(
    private readonly group: string,
    private readonly context: Context,
    /** Called with a root that may have been written, or may still be. Nodes may have read it, although it may get lost. */
    private readonly onUnknown: (root: AllocationRoot) => void,
  ) {
    // Encoded, so that the keys of two groups never begin alike.
    const name = encodeURIComponent(group);
    this.rootKey = `${ALLOCATION_PREFIX}root:${name}`;
    this.#pagePrefix = `${ALLOCATION_PREFIX}page:${name}/`;
    this.#texts = new TextCells(context.store.records, context);
  }

  /** The root as this node last read or wrote it. */
  get last(): StoredRoot {
    return this.#last;
  }

  /** @throws StoreUnavailableError, CorruptRecordError, NewerRecordError */
  async readRoot(): Promise<StoredRoot> {
    return this.rootFrom(await this.context.store.records.read(this.rootKey));
  }

  /** Decodes a text of the root, unless it is the same as before. A doubted root is a lost one. @throws CorruptRecordError, NewerRecordError */
  rootFrom(text: string | undefined): StoredRoot {
    const isThere = text !== undefined && !isDoubted(text);
    if (text !== this.#last.text) this.#last = { text, root: isThere ? this.#decodeRoot(text) : undefined };
    return this.#last;
  }

  /**
   * Writes the root that was read once more, unchanged. It may be in one copy only, and be lost with the member that
   * served it. The answer to a write proves that the other copies have it.
   *
   * @returns false if that is not certain, or another root was read since
   * @throws StoreUnavailableError
   */
  async confirm({ nonce }: AllocationRoot): Promise<boolean> {
    const { text, root } = this.#last;
    if (text === undefined || root?.nonce !== nonce) return false;
    if (this.#confirmed !== nonce && (await this.#write(this.rootKey, text, text, 'none'))) this.#confirmed = nonce;
    return this.#confirmed === nonce;
  }

  /**
   * Upper bound of cluster time, in ms. There is none while the clocks are asked again, for example after a jump of this
   * node's wall clock, and an owner map without a time could not be read.
   *
   * @throws StoreUnavailableError if no member says its time
   */
  async latest(): Promise<number> {
    const { clusterClock, timers, timing } = this.context;
    if (!clusterClock.isFresh)
      await answerWithin(timers, timing.callTimeout, 'return its time', () => clusterClock.sample());
    return clusterClock.latest();
  }

  /** Reads the pages that this node does not remember. @throws StoreUnavailableError, NewerRecordError */
  async readOwned(keys: readonly string[]): Promise<void> {
    await this.#readPages(keys, this.owned, decodeOwnedPage);
  }

  /** All pages of a root, as {@link readOwned}. Those that the store has lost, and this node too, are absent. */
  async readAll({ members, limbo }: AllocationRoot): Promise<KnownPages> {
    return {
      owned: await this.#readPages([...members.values()].flat(), this.owned, decodeOwnedPage),
      limbo: await this.#readPages(limbo, this.limbo, decodeLimboPage),
    };
  }

  /** Forgets all pages but these. */
  keepOnly(keys: Iterable<string>): void {
    const kept = new Set(keys);
    for (const key of this.#reported) if (!kept.has(key)) this.#reported.delete(key);
    for (const pages of [this.owned, this.limbo]) for (const key of pages.keys()) if (!kept.has(key)) pages.delete(key);
  }

  /**
   * Writes the pages of a round in their slots, then its root.
   *
   * @param expected the root that the round was decided on
   * @returns false if nothing is certain; look at the root again
   * @throws StoreUnavailableError
   */
  async commit(expected: StoredRoot, round: CommitRound): Promise<boolean> {
    const pages = [...round.owned, ...round.limbo];
    const former = await this.#readSlots(pages.map(([key]) => key));
    // A slot that is free in this root may be in use in a later one.
    if (pages.length > 0 && (await this.readRoot()).text !== expected.text) return false;
    for (let begin = 0; begin < pages.length; begin += AT_ONCE) {
      const writes = pages
        .slice(begin, begin + AT_ONCE)
        .map(([key, page]) => this.#write(this.#slot(key), former.get(this.#slot(key)), encodePage(key, page), 'none'));
      if (!(await Promise.all(writes)).every(Boolean)) return false;
      await this.#turn();
    }
    // Before the root: if its outcome is unknown, this node must be able to put the pages back.
    for (const [key, page] of round.owned) this.owned.set(key, page);
    for (const [key, page] of round.limbo) this.limbo.set(key, page);
    const text = encodeAllocationRoot(round.root);
    const isWritten = await this.#write(this.rootKey, expected.text, text, 'all', () => this.onUnknown(round.root));
    if (!isWritten) return false;
    this.#last = { text, root: round.root };
    this.#confirmed = round.root.nonce;
    this.keepOnly(pageKeysOf(round.root));
    return true;
  }

  /** Writes pages of a root back that the store lost. @throws StoreUnavailableError */
  async putBack(expected: StoredRoot, pages: ReadonlyMap<string, OwnedPage>): Promise<void> {
    if (pages.size === 0) return;
    const found = await this.#readSlots([...pages.keys()]);
    // A later root may use the slots for other pages.
    if ((await this.readRoot()).text !== expected.text) return;
    for (const [key, page] of pages) {
      const slot = this.#slot(key);
      const text = encodePage(key, page);
      if (found.get(slot) !== text) await this.#write(slot, found.get(slot), text, 'none');
    }
  }

  /** Reports a text that can't be read once, not at each look. */
  #decodeRoot(text: string): AllocationRoot {
    try {
      return decodeAllocationRoot(this.group, text);
    } catch (error) {
      const { events } = this.context;
      if (text !== this.#unreadable) {
        events.next({ type: 'record-unreadable', semaphore: this.rootKey, error: error as Error });
      }
      this.#unreadable = text;
      throw error;
    }
  }

  /** @returns the pages that were found. Another root that is applied meanwhile may forget them here */
  async #readPages<P>(
    keys: readonly string[],
    into: Map<string, P>,
    decode: (key: string, text: string) => P | undefined,
  ): Promise<ReadonlyMap<string, P>> {
    const found = new Map(keys.flatMap((key) => (into.has(key) ? [[key, into.get(key)!] as const] : [])));
    const unknown = keys.filter((key) => !found.has(key));
    const texts = await this.#readSlots(unknown);
    for (const key of unknown) {
      // Before the work: several nodes of a process may get their pages in one turn of the event loop.
      await this.#turn();
      const text = texts.get(this.#slot(key));
      const page = text === undefined ? undefined : this.#decode(key, text, decode);
      if (page) into.set(key, page);
      if (page) found.set(key, page);
    }
    return found;
  }

  /** A corrupt page is a lost page: the protocol repairs it. */
  #decode<P>(key: string, text: string, decode: (key: string, text: string) => P | undefined): P | undefined {
    try {
      return decode(key, text);
    } catch (error) {
      const { events } = this.context;
      if (!this.#reported.has(key)) events.next({ type: 'record-unreadable', semaphore: key, error: error as Error });
      this.#reported.add(key);
      if (!(error instanceof CorruptRecordError)) throw error;
      return undefined;
    }
  }

  #readSlots(keys: readonly string[]): Promise<Map<string, string>> {
    return this.#texts.readMany(keys.map((key) => this.#slot(key)));
  }

  /**
   * One write, without a look: after an unclear one the next round decides anew, from the root that it reads.
   *
   * @returns whether it was surely written
   * @throws StoreUnavailableError
   */
  #write(
    key: string,
    expected: string | undefined,
    text: string,
    notify: Notify,
    onUnclear?: () => void,
  ): Promise<boolean> {
    return writeOnce(() => this.context.store.records.compareAndSet(key, expected, text, { notify }), onUnclear);
  }

  #slot(key: string): string {
    return this.#pagePrefix + slotOf(key);
  }

  async #turn(): Promise<void> {
    const slices = Slices.of(this.context.nodeClock);
    if (slices.isOver) await slices.turn();
  }
}
