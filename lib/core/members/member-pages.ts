import { trySample } from '../clock/index.js';
import { CorruptRecordError } from '../decision/index.js';
import type { Context } from '../context/context.js';
import { RecordMaintainer } from '../cell/record-maintainer.js';
import { askTimeOf } from '../cell/known-record.js';
import { Cell } from '../cell/cell.js';
import type { RecordChange } from '../store/index.js';
import { type MemberEntry, MEMBERS, type MemberPage, PAGES, PAGE_PREFIX, leaseOf } from './member-page.js';

export type PageCell = Cell<MemberPage>;

/** All pages as one look found them. Times are this node's monotonic ms. */
export interface MembersReading {
  /** Before the pages were asked for. */
  readonly sent: number;
  /** After the last answer. */
  readonly received: number;
  /** Lower bound of cluster time at `sent`, in ms; -Infinity if it is unknown, or may not judge the leases. */
  readonly earliest: number;
  /** When this node last asked for the members' clocks. */
  readonly sampledAt: number;
  /** A page that the store does not have, or that is no page, is undefined. */
  readonly pages: readonly (MemberPage | undefined)[];
}

/** Other texts of the same nodes, which are read with the same call. */
export interface Companion {
  /** Keys of all texts. With the pages, at most `MOST_KEYS`. */
  keys(): readonly string[];
  /** Takes the texts that the store has under some of these keys. Must not throw. */
  take(texts: ReadonlyMap<string, string>, keys: readonly string[]): void;
}

/** All pages of the membership as this node knows them. */
export class MemberPages {
  readonly all: readonly PageCell[];
  readonly #maintainer: RecordMaintainer<MemberPage>;
  #companion: Companion | undefined;
  readonly #corrupt = new Set<PageCell>();
  /** By lease: monotonic ms at which a look first found it. */
  #firstSeen: ReadonlyMap<string, number> = new Map();
  #endWatch?: () => Promise<void>;

  /** @param onChange hears of each new version of a page */
  constructor(
    private readonly context: Context,
    private readonly onChange: (page: PageCell, record: MemberPage) => void,
  ) {
    this.all = Array.from({ length: PAGES }, (_, page) => this.#open(String(page)));
    this.#maintainer = new RecordMaintainer({ tidy: async () => undefined }, context);
  }

  async start(): Promise<void> {
    this.#endWatch = await this.context.store.watch(PAGE_PREFIX, (change) => void this.#takeIn(change));
  }

  /** Reads other texts with each heartbeat from now on. */
  attach(companion: Companion): void {
    this.#companion = companion;
  }

  /** Reads all pages and all other texts, as {@link look}. */
  lookAtAll(): Promise<MembersReading | undefined> {
    return this.look(this.#companion?.keys());
  }

  async stop(): Promise<void> {
    this.#maintainer.stop();
    await this.#endWatch?.();
  }

  /**
   * Reads all pages with one call, because each living node has written since the last time. Restores lost pages, and
   * reports pages that can't be read.
   *
   * @param others keys of the companion that the same call reads. To read all of them at each look of each group would cost
   *   the square of their number
   * @returns undefined if a page could not be restored, or only a newer version of this package can read it
   * @throws StoreUnavailableError
   */
  async look(others: readonly string[] = []): Promise<MembersReading | undefined> {
    const { store, nodeClock } = this.context;
    const [sent, askedAt] = [nodeClock.monotonic(), askTimeOf(this.context)];
    const keys = [...this.all.map(({ key }) => key), ...others];
    const texts = await store.records.readMany(keys);
    if (others.length > 0) this.#companion?.take(texts, others);
    let isComplete = true;
    for (const page of this.all) {
      await this.#maintainer.turn();
      isComplete = (await this.#examine(page, texts.get(page.key), askedAt)) && isComplete;
    }
    const pages = this.all.map((page) => (this.#corrupt.has(page) ? undefined : page.known));
    if (!isComplete) return undefined;
    const received = nodeClock.monotonic();
    await this.#prove(pages, received);
    return { sent, received, pages, ...this.#clusterTime(pages, sent) };
  }

  /**
   * Asks for the members' clocks if a lease looks over by clocks that were asked before this node first saw it: the clock
   * that stamped it may have been set back since.
   */
  async #prove(pages: readonly (MemberPage | undefined)[], at: number): Promise<void> {
    const { clusterClock, timing } = this.context;
    const entries = pages.flatMap((page) => page?.entries ?? []);
    const ids = entries.map((entry) => leaseOf(entry).id);
    this.#firstSeen = new Map(ids.map((id) => [id, this.#firstSeen.get(id) ?? at]));
    const over = clusterClock.earliest() - timing.clockTolerance;
    const isUnproven = ({ expiresAt }: MemberEntry, index: number) =>
      expiresAt <= over && clusterClock.sampledAt < this.#firstSeen.get(ids[index]!)!;
    // Without an answer, the leases end by this node's own observation, and the old sample ends none of them.
    if (entries.some(isUnproven)) await trySample(this.context, timing.callTimeout);
  }

  #clusterTime(pages: readonly (MemberPage | undefined)[], sent: number) {
    const { clusterClock, nodeClock } = this.context;
    const longest = Math.max(0, ...pages.flatMap((page) => page?.entries.map(({ duration }) => duration) ?? []));
    const mayJudge = clusterClock.isFresh && clusterClock.mayJudge(longest);
    const earliest = mayJudge ? clusterClock.earliest() - Math.ceil(nodeClock.monotonic() - sent) : -Infinity;
    return { earliest, sampledAt: clusterClock.sampledAt };
  }

  /** @returns whether this node knows what the store has */
  async #examine(page: PageCell, text: string | undefined, askedAt?: number): Promise<boolean> {
    try {
      if (text === undefined ? page.known !== undefined : !page.observe(text, askedAt)) await page.look();
      this.#corrupt.delete(page);
      return true;
    } catch (error) {
      this.#maintainer.report(error, 'read the members');
      if (error instanceof CorruptRecordError) this.#corrupt.add(page);
      return error instanceof CorruptRecordError;
    }
  }

  #open(name: string): PageCell {
    const page = new Cell(name, MEMBERS, this.context);
    const semaphore = page.key;
    const { events } = this.context;
    page.listen({
      changed: ({ record }) => this.onChange(page, record),
      restored: ({ seq: revision }) => events.next({ type: 'restored', semaphore, revision }),
      unreadable: (error) => events.next({ type: 'record-unreadable', semaphore, error }),
    });
    return page;
  }

  async #takeIn({ key, text }: RecordChange): Promise<void> {
    const page = this.all.find((each) => each.key === key);
    if (page) return void (await this.#examine(page, text));
    // Without a key, anything may have changed, for example after a reconnection.
    if (key === undefined)
      await this.look().catch((error: unknown) => this.#maintainer.report(error, 'read the members'));
  }
}
