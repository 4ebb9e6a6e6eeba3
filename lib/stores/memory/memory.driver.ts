import { setMaxListeners } from 'node:events';
import { systemClock } from '../../core/async/node-clock.js';
import { AwaitedKeys } from '../../core/store/awaited-keys.js';
import type { StoreHealth } from '../../core/store/store-health.js';
import type {
  ClockReading,
  Driver,
  HintQueue,
  Journal,
  OrderedCollection,
  RecordChange,
  RecordPage,
  RecordCollection,
  TextCollection,
} from '../../core/store/driver.js';
import { PrefixWatches } from '../../core/store/prefix-watches.js';
import { StoreUnavailableError } from '../../core/store/store.errors.js';
import type { MemoryClient, MemoryCluster } from './memory-cluster.js';
import type { SharedQueue } from './shared-queue.js';
import type { TextTable } from './text-table.js';

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
    setMaxListeners(0, this.#closing.signal);
    this.records = {
      ...this.#textsIn(cluster.records),
      page: this.#whileOpen((prefix, after) => pageOf(cluster.records, prefix, after)),
      compareAndSet: this.#whileOpen((key, expected, next, { notify = 'all' } = {}) => {
        const isWritten = cluster.records.compareAndSet(key, expected, next);
        if (isWritten && notify !== 'none') cluster.announce({ key, text: next }, notify, this);
        return isWritten;
      }),
    };
    this.tasks = {
      ...this.#textsIn(cluster.tasks),
      range: this.#whileOpen((from, to, limit) => cluster.tasks.range(from, to, limit)),
      compareAndSet: this.#whileOpen((key, expected, next, { hint } = {}) => {
        const isWritten = cluster.tasks.compareAndSet(key, expected, next);
        if (isWritten && hint) cluster.queue(hint.queue).offer([hint.hint]);
        return isWritten;
      }),
    };
    this.groups = this.#textsIn(cluster.groups);
    cluster.join(this);
  }

  queue(name: string): HintQueue {
    const queue = this.cluster.queue(name);
    return {
      offer: this.#whileOpen((hints) => queue.offer(hints)),
      poll: this.#whileOpen((patience, signal) => {
        if (signal.aborted) return undefined;
        const [hint] = queue.drain(1);
        return hint ?? this.#waitFor(queue, patience, signal);
      }),
      drain: this.#whileOpen((most) => queue.drain(most)),
      remove: this.#whileOpen((hints) => queue.remove(hints)),
      peek: this.#whileOpen(() => queue.peek()),
      size: this.#whileOpen(() => queue.size),
    };
  }

  journal(name: string): Journal {
    const journal = this.cluster.journal(name);
    return {
      append: this.#whileOpen((texts) => journal.append(texts)),
      read: this.#whileOpen((limit) => journal.read(limit)),
    };
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    this.#closing.signal.throwIfAborted();
    return this.watches.add(prefix, onChange);
  }

  awaitChanges(key?: string): () => void {
    return this.awaited.add(key);
  }

  async now(): Promise<ClockReading> {
    this.#closing.signal.throwIfAborted();
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

  #textsIn(table: TextTable): TextCollection {
    return {
      read: this.#whileOpen((key) => table.get(key)),
      readMany: this.#whileOpen((keys) => table.getMany(keys)),
      compareAndSet: this.#whileOpen((key, expected, next) => table.compareAndSet(key, expected, next)),
    };
  }

  /** The call as this client makes it: it fails if the client is closed. */
  #whileOpen<Args extends unknown[], T>(call: (...args: Args) => T | Promise<T>): (...args: Args) => Promise<T> {
    return async (...args) => {
      this.#closing.signal.throwIfAborted();
      return call(...args);
    };
  }

  /** A hint that is added after the end of the wait goes to another poller, or stays in the queue. */
  #waitFor(queue: SharedQueue, patience: number, signal: AbortSignal): Promise<string | undefined> {
    const closed = this.#closing.signal;
    return new Promise((resolve, reject) => {
      const stopWaiting = queue.wait((hint) => (end(), resolve(hint)));
      const cancelTimer = systemClock.schedule(() => giveUp(), patience);
      const giveUp = () => (end(), resolve(undefined));
      const fail = () => (end(), reject(closed.reason as Error));
      const end = () => {
        stopWaiting();
        cancelTimer();
        signal.removeEventListener('abort', giveUp);
        closed.removeEventListener('abort', fail);
      };
      signal.addEventListener('abort', giveUp);
      closed.addEventListener('abort', fail);
    });
  }
}

/** Records keep their order and are never removed, so `after` is the number of texts on the pages before. */
function pageOf({ texts }: TextTable, prefix: string, after = '0'): RecordPage {
  const from = Number(after);
  const page = new Map<string, string>();
  let place = 0;
  for (const [key, text] of texts) {
    if (place >= from && key.startsWith(prefix)) page.set(key, text);
    if (++place === from + PAGE) return { texts: page, ...(place < texts.size && { next: String(place) }) };
  }
  return { texts: page };
}
