import type { HintQueue, SortedTexts, TaskStorage, TextEntry } from '../../../core/store/task-storage.js';
import { SharedQueue } from './shared-queue.js';
import { TextTable } from './text-table.js';
import { systemClock } from '../../../core/async/node-clock.js';

/** Tasks of one `memory()`, which all its clients share. */
export class SharedTasks {
  readonly tasks = new TextTable();
  readonly groups = new TextTable();
  readonly #queues = new Map<string, SharedQueue>();

  queue(name: string): SharedQueue {
    const queue = this.#queues.get(name) ?? new SharedQueue();
    this.#queues.set(name, queue);
    return queue;
  }
}

/** The tasks as one client sees them. */
export class MemoryTasks implements TaskStorage {
  readonly tasks: SortedTexts;
  readonly groups: SortedTexts;

  /** @param closed aborts when the client is closed, with the error that its calls throw */
  constructor(
    private readonly shared: SharedTasks,
    private readonly closed: AbortSignal,
  ) {
    this.tasks = new MemoryTexts(shared.tasks, closed);
    this.groups = new MemoryTexts(shared.groups, closed);
  }

  queue(name: string): HintQueue {
    return new MemoryQueue(this.shared.queue(name), this.closed);
  }
}

class MemoryTexts implements SortedTexts {
  constructor(
    private readonly table: TextTable,
    private readonly closed: AbortSignal,
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

  async create(key: string, text: string): Promise<string | undefined> {
    this.closed.throwIfAborted();
    return this.table.create(key, text);
  }

  async replace(key: string, expected: string, next: string): Promise<boolean> {
    this.closed.throwIfAborted();
    return this.table.replace(key, expected, next);
  }

  async remove(key: string, expected: string): Promise<boolean> {
    this.closed.throwIfAborted();
    return this.table.remove(key, expected);
  }

  async range(from: string, to: string, limit: number): Promise<TextEntry[]> {
    this.closed.throwIfAborted();
    return this.table.range(from, to, limit);
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
