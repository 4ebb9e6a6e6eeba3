import { SharedWork } from '../async/shared-work.js';
import { atMost } from './at-most.js';
import type { HintQueue, QueuedHint } from './driver.js';
import { batchesOf } from './text-batches.js';

/** Hints that were not sent yet, of all queues. With more, writes wait for them, so that they go no faster than the store. */
const MOST_UNSENT = 256;
/** Share of a call's time for which a write waits for its hint at most: it is made, and its caller must learn that in time. */
const PATIENCE = 0.25;

/**
 * Hints of writes, for a driver whose store can't add them in the step that writes: each follows its write. Those that come while a
 * call for their queue is under way share the next one.
 */
export class HintsAfterWrites {
  /** A failed call stands in the health of the driver, as of any call. No write depends on it: the sweep finds the task. */
  readonly #offers = new SharedWork<string>(async (name, hints) => {
    const queue = this.queue(name);
    for (const some of batchesOf(hints)) await queue.offer(some).catch(() => undefined);
  });
  /** Calls with hints for which their writes don't wait. */
  readonly #unsent = new Set<Promise<void>>();

  /** @param callTimeout ms that a call of the driver may take */
  constructor(
    private readonly queue: (name: string) => Pick<HintQueue, 'offer'>,
    private readonly callTimeout: number,
  ) {}

  /**
   * Sends the hint of a write if it was made. The write waits for the hint only if no other one of the queue is on its way: many
   * writes at the same time would wait together, then write together, and leave the store without work in between.
   *
   * @returns the answer of the write
   */
  async follow(write: Promise<boolean>, { queue, hint }: QueuedHint): Promise<boolean> {
    if (!(await write)) return false;
    const isBusy = this.#offers.isRunning(queue) && this.#offers.pending < MOST_UNSENT;
    const sent = this.#offers.share(queue, hint);
    this.#note(sent);
    if (!isBusy) await atMost(this.callTimeout * PATIENCE, sent);
    return true;
  }

  #note(sent: Promise<void>): void {
    if (this.#unsent.has(sent)) return;
    this.#unsent.add(sent);
    void sent.then(() => this.#unsent.delete(sent));
  }

  /** Waits until the hints of all writes were sent. Never rejects. */
  async sent(): Promise<void> {
    await Promise.all(this.#unsent);
  }
}
