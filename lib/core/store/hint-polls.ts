import { systemClock } from '../async/node-clock.js';
import { Wakeup } from '../async/wakeup.js';
import type { HintQueue } from './driver.js';

/** A queue in which a poll waits. */
export interface PolledQueue extends Pick<HintQueue, 'drain' | 'offer'> {
  /** Name of the queue. */
  readonly name: string;
}

/**
 * The polls of one client that wait for hints, for queues that a client can only look into. Each poll looks at once, and again
 * whenever its queue is woken.
 */
export class HintPolls {
  readonly #waiting = new Map<string, Set<Wakeup>>();

  /**
   * @param longestWait ms after which a poll looks again although its queue was not woken. Default: only when it is woken
   */
  constructor(private readonly longestWait = Infinity) {}

  /** Names of the queues in which polls wait. */
  get queues(): string[] {
    return [...this.#waiting.keys()];
  }

  /**
   * Does what {@link HintQueue.poll} describes. A hint that is found after the signal aborted is offered again.
   *
   * @param patience ms
   * @returns undefined after the patience, or when the signal aborts
   * @throws the error of a look: to end the polls of a closed store, let its calls fail, and call {@link wakeAll}
   */
  async poll(queue: PolledQueue, patience: number, signal: AbortSignal): Promise<string | undefined> {
    const end = systemClock.monotonic() + patience;
    const woken = this.#add(queue.name);
    signal.addEventListener('abort', woken.ring);
    try {
      while (!signal.aborted) {
        woken.reset(); // before the look, so that no hint comes unnoticed between the look and the wait
        const [hint] = await queue.drain(1);
        const left = end - systemClock.monotonic();
        if (hint !== undefined) return signal.aborted ? await offerAgain(queue, hint) : hint;
        // Not a part of a ms: a timer would fire before the end, and the poll would look once more.
        if (left > 0) await woken.wait(Math.min(Math.ceil(left), this.longestWait));
        if (systemClock.monotonic() >= end) return undefined;
      }
      return undefined;
    } finally {
      signal.removeEventListener('abort', woken.ring);
      this.#remove(queue.name, woken);
    }
  }

  /** Wakes the polls of one queue, which look for a hint then. @returns whether there are any */
  wake(queue: string): boolean {
    const polls = this.#waiting.get(queue);
    for (const poll of polls ?? []) poll.ring();
    return polls !== undefined;
  }

  /** Wakes all polls, for example because the connection was lost or the store was closed. */
  wakeAll(): void {
    for (const queue of this.#waiting.keys()) this.wake(queue);
  }

  #add(queue: string): Wakeup {
    const polls = this.#waiting.get(queue) ?? new Set();
    const poll = new Wakeup(systemClock);
    this.#waiting.set(queue, polls.add(poll));
    return poll;
  }

  #remove(queue: string, poll: Wakeup): void {
    const polls = this.#waiting.get(queue)!;
    polls.delete(poll);
    if (polls.size === 0) this.#waiting.delete(queue);
  }
}

async function offerAgain(queue: PolledQueue, hint: string): Promise<undefined> {
  // A lost hint does no harm: the sweep finds its task. The next poll shows a store that can't be reached.
  await queue.offer([hint]).catch(() => undefined);
}
