import { Deadline } from '../async/deadline.js';
import { systemClock } from '../async/node-clock.js';
import { SharedWork } from '../async/shared-work.js';
import { Timers } from '../async/timers.js';
import { atMost } from './at-most.js';
import type { HintQueue, OpenOptions, QueuedHint } from './driver.js';
import { batchesOf } from './text-batches.js';

/** Hints that were not sent yet, of all queues. With more, writes wait for them, so that they go no faster than the store. */
const MOST_UNSENT = 256;
/** With so many, further ones are dropped: the store takes none, and the sweep finds their tasks. */
const MOST_KEPT = 2 * MOST_UNSENT;
/**
 * Share of a call's time, from the begin of the write, after which a write waits for its hint no longer: it is made, and its
 * caller must learn that in time.
 */
const PATIENCE = 0.25;

/**
 * Hints of writes, for a driver whose store can't add them in the step that writes: each follows its write. Those that come while a
 * call for their queue is under way share the next one.
 */
export class HintsAfterWrites {
  readonly #offers = new SharedWork<string>((name, hints) => this.#send(name, hints).catch(this.onLost));
  readonly #timers = new Timers(systemClock);
  /** Calls with hints for which their writes don't wait. */
  readonly #unsent = new Set<Promise<void>>();

  /**
   * @param callTimeout ms that a call of the driver may take
   * @param onLost hears why hints could not be sent. No write depends on it: the sweep finds the tasks
   */
  constructor(
    private readonly queue: (name: string) => Pick<HintQueue, 'offer'>,
    private readonly callTimeout: number,
    private readonly onLost: NonNullable<OpenOptions['onHintLost']> = () => undefined,
  ) {}

  /**
   * Sends the hint of a write if it was made. The write waits for the hint only if no other one of the queue is on its way: many
   * writes at the same time would wait together, then write together, and leave the store without work in between.
   *
   * @returns the answer of the write
   */
  async follow(write: Promise<boolean>, { queue, hint }: QueuedHint): Promise<boolean> {
    const end = systemClock.monotonic() + this.callTimeout * PATIENCE;
    if (!(await write)) return false;
    if (this.#offers.pending >= MOST_KEPT) return true;
    const isBusy = this.#offers.isRunning(queue) && this.#offers.pending < MOST_UNSENT;
    const sent = this.#offers.share(queue, hint);
    this.#note(sent);
    const left = end - systemClock.monotonic();
    if (!isBusy && left > 0) await atMost(left, sent);
    return true;
  }

  /** The rest of the hints is dropped after a failure: the store would refuse them, too. */
  async #send(name: string, hints: readonly string[]): Promise<void> {
    const queue = this.queue(name);
    for (const some of batchesOf(hints)) await new Deadline(this.#timers, this.callTimeout).race(queue.offer(some));
  }

  #note(sent: Promise<void>): void {
    if (this.#unsent.has(sent)) return;
    this.#unsent.add(sent);
    void sent.then(() => this.#unsent.delete(sent));
  }

  /**
   * Waits until the hints of all writes were sent. Those that were not are given up: a store that hangs must not keep the
   * application from its end, and the sweep finds their tasks. Never rejects.
   *
   * @param patience ms
   */
  async close(patience: number): Promise<void> {
    await atMost(patience, Promise.all(this.#unsent));
    this.#timers.close();
  }
}
