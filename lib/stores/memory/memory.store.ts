import { setMaxListeners } from 'node:events';
import type {
  ClockReading,
  Journal,
  Notify,
  RecordPage,
  RecordChange,
  RecordStore,
  StoreHealth,
} from '../../core/store/store.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import { AwaitedKeys } from '../../core/store/awaited-keys.js';
import { PrefixWatches } from '../../core/store/prefix-watches.js';
import type { MemoryClient, MemoryCluster } from './memory-cluster.js';
import { MemoryTasks } from './tasks/memory-tasks.js';

const CLOSED = 'The memory store is closed: open another one with its definition';

/** Texts on one page. */
const PAGE = 500;

/** One client of a {@link MemoryCluster}. */
export class MemoryStore implements RecordStore, MemoryClient {
  readonly watches = new PrefixWatches();
  readonly awaited = new AwaitedKeys();
  readonly tasks: MemoryTasks;
  /** Aborts when the store is closed. */
  readonly #closing = new AbortController();

  constructor(
    readonly cluster: MemoryCluster,
    readonly writer?: string,
  ) {
    setMaxListeners(0, this.#closing.signal);
    this.tasks = new MemoryTasks(cluster.tasks, this.#closing.signal);
    cluster.join(this);
  }

  async read(key: string): Promise<string | undefined> {
    this.#assertOpen();
    return this.cluster.texts.get(key);
  }

  async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    options?: { readonly notify?: Notify },
  ): Promise<boolean> {
    this.#assertOpen();
    if (!this.cluster.compareAndSet(key, expected, next)) return false;
    const { notify = 'all' } = options ?? {};
    if (notify !== 'none') this.cluster.announce({ key, text: next }, notify, this);
    return true;
  }

  async list(prefix: string): Promise<Map<string, string>> {
    this.#assertOpen();
    const texts = new Map<string, string>();
    for (const [key, text] of this.cluster.texts) if (key.startsWith(prefix)) texts.set(key, text);
    return texts;
  }

  /** Texts keep their order and are never removed, so `after` is the number of texts on the pages before. */
  async page(prefix: string, after = '0'): Promise<RecordPage> {
    this.#assertOpen();
    const { texts } = this.cluster;
    const from = Number(after);
    const page = new Map<string, string>();
    let place = 0;
    for (const [key, text] of texts) {
      if (place >= from && key.startsWith(prefix)) page.set(key, text);
      if (++place === from + PAGE) return { texts: page, ...(place < texts.size && { next: String(place) }) };
    }
    return { texts: page };
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    this.#assertOpen();
    return new Map(
      keys.flatMap((key) => {
        const text = this.cluster.texts.get(key);
        return text === undefined ? [] : [[key, text] as const];
      }),
    );
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    this.#assertOpen();
    return this.watches.add(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.awaited.add(key);
  }

  journal(name: string): Journal {
    const journal = this.cluster.journal(name);
    return {
      append: async (texts) => (this.#assertOpen(), journal.append(texts)),
      read: async (limit) => (this.#assertOpen(), journal.read(limit)),
    };
  }

  async now(): Promise<ClockReading> {
    this.#assertOpen();
    return { time: this.cluster.clock(), member: 'memory' };
  }

  health(): StoreHealth {
    if (this.#closing.signal.aborted) return { connected: false, members: 0, quorum: 0, problem: CLOSED };
    return { connected: true, members: 1, quorum: 0 };
  }

  async close(): Promise<void> {
    this.#closing.abort(new StoreUnavailableError(CLOSED));
    this.watches.clear();
    this.cluster.leave(this);
  }

  #assertOpen(): void {
    this.#closing.signal.throwIfAborted();
  }
}
