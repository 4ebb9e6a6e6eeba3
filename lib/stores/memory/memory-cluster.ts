import type { AwaitedKeys } from '../../core/store/awaited-keys.js';
import type { PrefixWatches } from '../../core/store/prefix-watches.js';
import type { Notify } from '../../core/store/driver.js';
import { SharedQueue } from './shared-queue.js';
import { OrderedTable, TextTable } from './text-table.js';

/** One client of the cluster. */
export interface MemoryClient {
  /** If set, the client is not notified of its own writes. */
  readonly writer?: string | undefined;
  readonly watches: PrefixWatches;
  readonly awaited: AwaitedKeys;
}

/** Largest number of texts: Hazelcast's default for ringbuffers. */
const CAPACITY = 10_000;

/** A journal in this process's memory. */
export class ArrayJournal {
  readonly #texts: string[] = [];

  append(texts: readonly string[]): void {
    this.#texts.push(...texts);
    this.#texts.splice(0, this.#texts.length - CAPACITY);
  }

  read(limit: number): string[] {
    return limit > 0 ? this.#texts.slice(-limit) : [];
  }
}

/** State that all clients of one `memory()` share: the texts, the queues, the clock, and the clients with their watches. */
export class MemoryCluster {
  readonly records = new TextTable();
  readonly tasks = new OrderedTable();
  readonly groups = new TextTable();
  readonly #queues = new Map<string, SharedQueue>();
  readonly #journals = new Map<string, ArrayJournal>();
  readonly #clients = new Set<MemoryClient>();

  constructor(readonly clock: () => number) {}

  queue(name: string): SharedQueue {
    const queue = this.#queues.get(name) ?? new SharedQueue();
    this.#queues.set(name, queue);
    return queue;
  }

  journal(name: string): ArrayJournal {
    const journal = this.#journals.get(name) ?? new ArrayJournal();
    this.#journals.set(name, journal);
    return journal;
  }

  join(client: MemoryClient): void {
    this.#clients.add(client);
  }

  leave(client: MemoryClient): void {
    this.#clients.delete(client);
  }

  /** Notifies asynchronously, like other stores, so that a write does not run watchers' code inside its own call. */
  announce(change: { readonly key: string; readonly text: string }, notify: Notify, by: MemoryClient): void {
    queueMicrotask(() => {
      for (const client of this.#clients) {
        const isWriter = client === by && by.writer !== undefined;
        if (!isWriter && (notify === 'all' || client.awaited.has(change.key))) client.watches.tell(change);
      }
    });
  }
}
