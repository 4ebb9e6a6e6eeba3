import { setMaxListeners } from 'node:events';
import { systemClock } from '../../../core/async/node-clock.js';
import { Wakeup } from '../../../core/async/wakeup.js';

/** The polls of this client that wait for hints, by their queue. */
export class WaitingPolls {
  readonly #byQueue = new Map<string, Set<Wakeup>>();

  /** @param closing aborts when the store is closed, with the error that its calls throw */
  constructor(readonly closing: AbortSignal) {
    setMaxListeners(0, closing);
  }

  /** Names of the queues in which polls wait. */
  get queues(): string[] {
    return [...this.#byQueue.keys()];
  }

  /** Wakes the polls of one queue, which look for a hint then. */
  wake(queue: string): void {
    for (const poll of this.#byQueue.get(queue) ?? []) poll.ring();
  }

  wakeAll(): void {
    for (const queue of this.#byQueue.keys()) this.wake(queue);
  }

  /**
   * Takes a hint with `take`, and tries again whenever the queue is woken.
   *
   * @param patience ms
   * @returns undefined after the patience, or when the signal aborts
   * @throws the error of `take`, or of the closed store
   */
  async until<T>(
    { queue, patience, signal }: { readonly queue: string; readonly patience: number; readonly signal: AbortSignal },
    take: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    const end = systemClock.monotonic() + patience;
    const poll = this.#add(queue);
    signal.addEventListener('abort', poll.ring);
    this.closing.addEventListener('abort', poll.ring);
    try {
      while (!signal.aborted) {
        poll.reset();
        const taken = await take();
        const left = end - systemClock.monotonic();
        if (taken !== undefined || left <= 0 || signal.aborted) return taken;
        await poll.wait(left);
        this.closing.throwIfAborted();
        if (systemClock.monotonic() >= end) return undefined;
      }
      return undefined;
    } finally {
      signal.removeEventListener('abort', poll.ring);
      this.closing.removeEventListener('abort', poll.ring);
      this.#remove(queue, poll);
    }
  }

  #add(queue: string): Wakeup {
    const polls = this.#byQueue.get(queue) ?? new Set();
    const poll = new Wakeup(systemClock);
    this.#byQueue.set(queue, polls.add(poll));
    return poll;
  }

  #remove(queue: string, poll: Wakeup): void {
    const polls = this.#byQueue.get(queue)!;
    polls.delete(poll);
    if (polls.size === 0) this.#byQueue.delete(queue);
  }
}
