import type { Subscription } from 'rxjs';
import { type StoredPermit, expire, expired } from '../decision/index.js';
import type { RecordChange } from '../stores/index.js';
import type { Context } from '../context/context.js';
import { listRecords } from '../records/list-records.js';
import { isUnreadable } from '../records/known-record.js';
import { KEY_PREFIX } from '../decision/record.js';
import type { SemaphoreDirectory } from './semaphore-directory.js';
import type { Semaphore } from './semaphore.js';

/**
 * Keeps this node up to date with what others do to the records: by the store's watch, which is only a hint, and by
 * looking at all of them from time to time. Frees what expired, and puts back what the store lost.
 */
export class StoreWatcher {
  #isStopped = false;
  #endOwn?: Subscription;
  #endWatch?: () => Promise<void>;

  constructor(
    private readonly directory: SemaphoreDirectory,
    private readonly context: Context,
    private readonly isLoadingAllowed: () => boolean,
  ) {}

  async start(): Promise<void> {
    this.#endOwn = this.context.events.subscribe((event) => {
      if (event.type === 'audited') void this.#heedOwn(event.semaphore);
    });
    this.#endWatch = await this.context.store.watch(KEY_PREFIX, (change) => void this.#hear(change));
  }

  /** A sweep that is under way ends soon. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#endOwn?.unsubscribe();
    await this.#endWatch?.();
  }

  /** Looks at every record of the store. Any node frees what expired, whoever held it. */
  async sweep(): Promise<void> {
    if (!this.context.clusterClock.isFresh) await this.context.clusterClock.sample();
    const texts = await listRecords(this.context);
    this.context.reachability.back();
    for (const [key, text] of texts) {
      if (this.#isStopped) return;
      await this.#examine(key.slice(KEY_PREFIX.length), text);
    }
    for (const [name, semaphore] of this.directory.known) {
      if (this.#isStopped) return;
      if (!texts.has(KEY_PREFIX + name) && semaphore.recordClient.known) await this.#look(semaphore);
    }
    if (this.isLoadingAllowed()) await this.directory.declared.load();
  }

  /** The store tells a node nothing of what it wrote itself: what an operator took away here may be held here. */
  async #heedOwn(name: string): Promise<void> {
    try {
      const semaphore = this.directory.known.get(name);
      await semaphore?.holdings.verify();
      semaphore?.line.wake();
    } catch (error) {
      this.#report(error, 'take in a change', name);
    }
  }

  async #hear({ key, text }: RecordChange): Promise<void> {
    try {
      // Without a key anything may have happened, as after a reconnection: also to the members' clocks and the data.
      if (key === undefined) return await this.#resynchronise();
      const name = key.slice(KEY_PREFIX.length);
      const semaphore = this.directory.known.get(name);
      if (!semaphore) this.context.news.next(name);
      else await (text === undefined ? this.#look(semaphore) : this.#takeIn(semaphore, text));
    } catch (error) {
      this.#report(error, 'take in a change');
    }
  }

  async #resynchronise(): Promise<void> {
    await this.context.clusterClock.sample();
    await this.sweep();
  }

  /** One record that can't be used must not keep the others from being looked after. */
  async #examine(name: string, text: string): Promise<void> {
    try {
      const semaphore = this.directory.get(name);
      // A listing is not late news: what is behind here was lost, and only a look at the record puts it back.
      if (!(await this.#takeIn(semaphore, text))) await this.#look(semaphore);
      await this.#free(semaphore);
    } catch (error) {
      this.#report(error, 'examine', name);
    }
  }

  #report(error: unknown, action: string, semaphore?: string): void {
    // With its store closed what is still under way fails, and nobody needs what it was for.
    if (isUnreadable(error) || this.#isStopped) return;
    this.context.events.next({ type: 'problem', semaphore, action, error });
  }

  /** @returns false when the text is behind what is known */
  async #takeIn(semaphore: Semaphore, text: string): Promise<boolean> {
    const isNews = semaphore.recordClient.hear(text);
    await semaphore.holdings.verify();
    semaphore.line.wake();
    return isNews;
  }

  /** Asks for the record itself, which puts it back when the store lost it. */
  async #look(semaphore: Semaphore): Promise<void> {
    await semaphore.recordClient.transact<void>(() => ({ result: undefined }));
    await semaphore.holdings.verify();
    semaphore.line.wake();
  }

  async #free({ recordClient, name }: Semaphore): Promise<void> {
    if (!recordClient.known || expired(recordClient.known, recordClient.view()).length === 0) return;
    const freed = await recordClient.transact<readonly StoredPermit[]>((record, view, nonce) => {
      const permits = record ? expired(record, view) : [];
      const next = record && expire(record, view, nonce);
      return next ? { notify: false, write: next, done: () => permits } : { result: [] };
    });
    if (freed.length > 0) this.context.events.next({ type: 'expired', semaphore: name, permits: freed });
  }
}
