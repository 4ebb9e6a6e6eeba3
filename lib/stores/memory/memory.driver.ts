import { setMaxListeners } from 'node:events';
import { systemClock } from '../../core/async/node-clock.js';
import { AwaitedKeys } from '../../core/store/awaited-keys.js';
import type {
  ClockReading,
  Driver,
  HintQueue,
  Journal,
  OrderedCollection,
  RecordChange,
  RecordPage,
  RecordCollection,
  StoreHealth,
  TextEntry,
  TextCollection,
  WriteOptions,
} from '../../core/store/driver.js';
import { PrefixWatches } from '../../core/store/prefix-watches.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { MemoryClient, MemoryCluster } from './memory-cluster.js';
import type { SharedQueue } from './shared-queue.js';
import type { OrderedTable, TextTable } from './text-table.js';

const CLOSED = 'The memory store is closed: open another one with its definition';

/** Texts on one page. */
const PAGE = 500;

/** One client of a {@link MemoryCluster}. */
export class MemoryDriver implements Driver, MemoryClient {
  readonly watches = new PrefixWatches();
  readonly awaited = new AwaitedKeys();
  readonly records: RecordCollection;
  readonly tasks: OrderedCollection;
  readonly groups: TextCollection;
  /** Aborts when the driver is closed, with the error that its calls throw. */
  readonly #closing = new AbortController();

  constructor(
    readonly cluster: MemoryCluster,
    readonly writer?: string,
  ) {
    const closed = this.#closing.signal;
    setMaxListeners(0, closed);
    this.records = new MemoryRecords(cluster.records, closed, (key, text, notify) =>
      cluster.announce({ key, text }, notify, this),
    );
    this.tasks = new MemoryTasks(cluster, closed);
    this.groups = new MemoryTexts(cluster.groups, closed);
    cluster.join(this);
  }

  queue(name: string): HintQueue {
    return new MemoryQueue(this.cluster.queue(name), this.#closing.signal);
  }

  journal(name: string): Journal {
    const journal = this.cluster.journal(name);
    return {
      append: async (texts) => (this.#assertOpen(), journal.append(texts)),
      read: async (limit) => (this.#assertOpen(), journal.read(limit)),
    };
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    this.#assertOpen();
    return this.watches.add(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.awaited.add(key);
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

/** A table as one client sees it. */
class MemoryTexts<Table extends TextTable = TextTable> implements TextCollection {
  /** @param closed aborts when the client is closed, with the error that its calls throw */
  constructor(
    protected readonly table: Table,
    protected readonly closed: AbortSignal,
  ) {}

  async read(key: string): Promise<string | undefined> {
    this.closed.throwIfAborted();
    return this.table.get(key);
  }

  async readMany(keys: readonly string[]): Promise<Map<string, string>> {
    this.closed.throwIfAborted();
    const texts = new Map<string, string>();
    for (const key of keys) {
      const text = this.table.get(key);
      if (text !== undefined) texts.set(key, text);
    }
    return texts;
  }

  async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    _options?: WriteOptions,
  ): Promise<boolean> {
    this.closed.throwIfAborted();
    return this.table.compareAndSet(key, expected, next);
  }
}

class MemoryTasks extends MemoryTexts<OrderedTable> implements OrderedCollection {
  constructor(
    private readonly cluster: Pick<MemoryCluster, 'tasks' | 'queue'>,
    closed: AbortSignal,
  ) {
    super(cluster.tasks, closed);
  }

  override async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    { hint }: WriteOptions = {},
  ): Promise<boolean> {
    this.closed.throwIfAborted();
    const isWritten = this.table.compareAndSet(key, expected, next);
    if (isWritten && hint) this.cluster.queue(hint.queue).offer([hint.hint]);
    return isWritten;
  }

  async range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    this.closed.throwIfAborted();
    return this.table.range(from, to, limit);
  }
}

class MemoryRecords extends MemoryTexts implements RecordCollection {
  constructor(
    table: TextTable,
    closed: AbortSignal,
    private readonly announce: (key: string, text: string, notify: 'all' | 'waiting') => void,
  ) {
    super(table, closed);
  }

  override async compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    { notify = 'all' }: WriteOptions = {},
  ): Promise<boolean> {
    this.closed.throwIfAborted();
    const isWritten = this.table.compareAndSet(key, expected, next);
    if (isWritten && notify !== 'none') this.announce(key, next, notify);
    return isWritten;
  }

  /** Records keep their order and are never removed, so `after` is the number of texts on the pages before. */
  async page(prefix: string, after = '0'): Promise<RecordPage> {
    this.closed.throwIfAborted();
    const { texts } = this.table;
    const from = Number(after);
    const page = new Map<string, string>();
    let place = 0;
    for (const [key, text] of texts) {
      if (place >= from && key.startsWith(prefix)) page.set(key, text);
      if (++place === from + PAGE) return { texts: page, ...(place < texts.size && { next: String(place) }) };
    }
    return { texts: page };
  }
}

/** A queue as one client sees it. */
class MemoryQueue implements HintQueue {
  /** @param closed aborts when the client is closed, with the error that its calls throw */
  constructor(
    private readonly shared: SharedQueue,
    private readonly closed: AbortSignal,
  ) {}

  async offer(hints: readonly string[]): Promise<void> {
    this.closed.throwIfAborted();
    this.shared.offer(hints);
  }

  async poll(patience: number, signal: AbortSignal): Promise<string | undefined> {
    this.closed.throwIfAborted();
    if (signal.aborted) return undefined;
    const [hint] = this.shared.drain(1);
    return hint ?? this.#wait(patience, signal);
  }

  async drain(most: number): Promise<string[]> {
    this.closed.throwIfAborted();
    return this.shared.drain(most);
  }

  async remove(hints: readonly string[]): Promise<void> {
    this.closed.throwIfAborted();
    this.shared.remove(hints);
  }

  async peek(): Promise<string | undefined> {
    this.closed.throwIfAborted();
    return this.shared.peek();
  }

  async size(): Promise<number> {
    this.closed.throwIfAborted();
    return this.shared.size;
  }

  /** A hint that is added after the end of the wait goes to another poller, or stays in the queue. */
  #wait(patience: number, signal: AbortSignal): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
      const stopWaiting = this.shared.wait((hint) => (end(), resolve(hint)));
      const cancelTimer = systemClock.schedule(() => giveUp(), patience);
      const giveUp = () => (end(), resolve(undefined));
      const fail = () => (end(), reject(this.closed.reason as Error));
      const end = () => {
        stopWaiting();
        cancelTimer();
        signal.removeEventListener('abort', giveUp);
        this.closed.removeEventListener('abort', fail);
      };
      signal.addEventListener('abort', giveUp);
      this.closed.addEventListener('abort', fail);
    });
  }
}
