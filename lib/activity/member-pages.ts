import type { Context } from '../context/context.js';
import { Caretaker } from '../records/caretaker.js';
import { RecordClient } from '../records/record-client.js';
import { answerWithin } from '../stores/answer-within.js';
import type { RecordChange } from '../stores/index.js';
import { MEMBERS, type MemberPage, PAGES, PAGE_PREFIX } from './member-page.js';

export type PageClient = RecordClient<MemberPage>;

/** All pages of the membership as this node knows them. */
export class MemberPages {
  readonly all: readonly PageClient[];
  readonly #caretaker: Caretaker<MemberPage>;
  #endWatch?: () => Promise<void>;

  /** @param onChange hears of each new version of a page */
  constructor(
    private readonly context: Context,
    private readonly onChange: (page: PageClient, record: MemberPage) => void,
  ) {
    this.all = Array.from({ length: PAGES }, (_, page) => this.#open(String(page)));
    this.#caretaker = new Caretaker({ tidy: async () => undefined }, context);
  }

  async start(): Promise<void> {
    this.#endWatch = await this.context.store.watch(PAGE_PREFIX, (change) => void this.#takeIn(change));
  }

  async stop(): Promise<void> {
    this.#caretaker.stop();
    await this.#endWatch?.();
  }

  /**
   * Reads all pages with one call, because each living node has written since the last time. Restores lost pages, and
   * reports pages that can't be read.
   *
   * @throws StoreUnavailableError
   */
  async look(): Promise<void> {
    const { store, timers, timing } = this.context;
    const keys = this.all.map(({ key }) => key);
    const texts = await answerWithin(timers, timing.callTimeout, 'read the members', () => store.readMany(keys));
    for (const page of this.all) {
      await this.#caretaker.turn();
      await this.#caretaker.examine(page, texts.get(page.key));
    }
  }

  #open(name: string): PageClient {
    const page = new RecordClient(name, MEMBERS, this.context);
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
    if (page) return this.#caretaker.examine(page, text);
    // Without a key, anything may have changed, for example after a reconnection.
    if (key === undefined)
      await this.look().catch((error: unknown) => this.#caretaker.report(error, 'read the members'));
  }
}
