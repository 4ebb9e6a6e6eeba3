import { systemClock } from '../../../core/async/node-clock.js';
import type { HintQueue } from '../../../core/store/task-storage.js';
import type { SharedQueue } from './shared-queue.js';

/** A queue as one client sees it. */
export class MemoryQueue implements HintQueue {
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
