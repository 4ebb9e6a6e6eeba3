import type { RecordChange } from '../stores/index.js';
import type { Context } from '../context/context.js';
import { isUnreadable } from './known-record.js';
import { listRecords } from './list-records.js';
import type { StoredRecord } from './record-codec.js';
import type { RecordClient } from './record-client.js';

/** The clients of all records of one kind that this node knows. */
export interface RecordDirectory<R extends StoredRecord> {
  /** @returns undefined while this node has none of that name */
  find(name: string): RecordClient<R> | undefined;
  /** Makes one when there is none, and remembers it. @throws InvalidOptionsError when nothing can have that name */
  of(name: string): RecordClient<R>;
  all(): Iterable<RecordClient<R>>;
}

/** The work that goes with a look at all records. */
interface Chores<R extends StoredRecord> {
  /** Writes a record without what expired in it. */
  readonly tidy: (client: RecordClient<R>) => Promise<void>;
  /** Runs when all records were seen. */
  readonly swept: () => Promise<void>;
}

/**
 * Keeps the clients of one kind of records up to date with other nodes' writes: by the store's watch, which is only a
 * hint, and by a look at all records from time to time. Restores records that the store lost.
 */
export class Sweeper<R extends StoredRecord> {
  #isStopped = false;
  #endWatch?: () => Promise<void>;

  constructor(
    private readonly keyPrefix: string,
    private readonly directory: RecordDirectory<R>,
    private readonly context: Context,
    private readonly chores: Chores<R>,
  ) {}

  async start(): Promise<void> {
    this.#endWatch = await this.context.store.watch(this.keyPrefix, (change) => void this.#takeIn(change));
  }

  /** A sweep that is under way ends soon. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#endWatch?.();
  }

  /** Looks at every record of the store. Any node frees what expired, whichever node held it. */
  async sweep(): Promise<void> {
    if (!this.context.clusterClock.isFresh) await this.context.clusterClock.sample();
    const texts = await listRecords(this.context);
    this.context.reachability.back();
    for (const [key, text] of texts) {
      if (this.#isStopped) return;
      await this.#examine(this.#nameOf(key), text);
    }
    for (const client of this.directory.all()) {
      if (this.#isStopped) return;
      if (!texts.has(client.key) && client.known) await client.look();
    }
    await this.chores.swept();
  }

  #nameOf(key: string): string {
    return key.slice(this.keyPrefix.length);
  }

  async #takeIn({ key, text }: RecordChange): Promise<void> {
    try {
      // Without a key anything may have happened, as after a reconnection: also to the members' clocks and the data.
      if (key === undefined) return await this.#resynchronise();
      const client = this.directory.find(this.#nameOf(key));
      if (!client) this.context.changes.next(this.#nameOf(key));
      else if (text === undefined) await client.look();
      else client.observe(text);
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
      const client = this.directory.of(name);
      // A listing is not late news: a record that is behind here was lost, and only a look at it puts it back.
      if (!client.observe(text)) await client.look();
      await this.chores.tidy(client);
    } catch (error) {
      this.#report(error, 'examine', name);
    }
  }

  #report(error: unknown, action: string, semaphore?: string): void {
    // Once the store is closed, work that is still under way fails, and its result is not needed.
    if (isUnreadable(error) || this.#isStopped) return;
    this.context.events.next({ type: 'problem', semaphore, action, error });
  }
}
