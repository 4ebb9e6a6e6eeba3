import type { CancelTimer, NodeClock } from '../async/node-clock.js';
import { type Sized, UnsentEntries } from './unsent-entries.js';

/**
 * Collects entries and sends them in batches. No caller waits until an entry is sent.
 *
 * Entries are collected for a while, and a full batch is sent at once. Batches are sent one after the other, to keep the
 * order of the entries. After a failure the next batch waits longer.
 */
export class Batches<Entry extends Sized> {
  readonly #unsent = new UnsentEntries<Entry>();
  #isFailing = false;
  /** Number of entries that are being sent. */
  #inFlight = 0;
  #cancelTimer?: CancelTimer | undefined;
  #isClosed = false;
  /** Present while batches are being sent. */
  #sending?: Promise<void> | undefined;

  constructor(
    private readonly nodeClock: NodeClock,
    private readonly options: {
      /** ms for which entries are collected before they are sent together. */
      readonly gathering: number;
      /** ms after a failure until unsent entries are sent again. */
      readonly patience: number;
      /** Sends one batch. If it rejects, the batch is sent again later. */
      readonly send: (batch: readonly Entry[]) => Promise<void>;
      /** Called after a success with the number of entries that were dropped before it, if there are any. */
      readonly onDropped: (count: number) => void;
      /** Called if entries are left when the last attempt has failed. */
      readonly onUnwritten: (count: number, error: unknown) => void;
    },
  ) {}

  /** Number of entries that are not sent yet, with those of a call that has no answer. */
  get count(): number {
    return this.#unsent.count + this.#inFlight;
  }

  /** Number of entries that were dropped since the last success. */
  get dropped(): number {
    return this.#unsent.dropped;
  }

  add(entry: Entry): void {
    this.#unsent.add(entry);
    if (this.#isClosed || this.#sending) return;
    if (this.#unsent.hasBatch && !this.#isFailing) this.#send();
    else this.#cancelTimer ??= this.#sendIn(this.options.gathering);
  }

  /** Sends the waiting entries now, unless the last attempt failed. Resolves when they are sent, or an attempt failed. */
  async flush(): Promise<void> {
    await this.#sending;
    if (!this.#sending && !this.#isFailing && !this.#isClosed && this.#unsent.count > 0) this.#send();
    await this.#sending;
  }

  /** Tries once to send the remaining entries, and reports a failure. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#sending;
    await this.#sendBatches();
  }

  #sendIn(delay: number): CancelTimer {
    return this.nodeClock.schedule(() => this.#send(), delay);
  }

  #send(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#sending = this.#sendBatches().finally(() => {
      this.#sending = undefined;
      if (this.#isClosed || this.#unsent.count === 0) return;
      this.#cancelTimer = this.#sendIn(this.#isFailing ? this.options.patience : this.options.gathering);
    });
  }

  /** Sends all waiting entries, and full batches that arrive meanwhile, until one fails. */
  async #sendBatches(): Promise<void> {
    let waiting = this.#unsent.count;
    do {
      const batch = this.#unsent.takeBatch();
      if (batch.length === 0) return;
      waiting -= batch.length;
      await this.#sendBatch(batch);
    } while (!this.#isFailing && (waiting > 0 || this.#unsent.hasBatch));
  }

  async #sendBatch(batch: readonly Entry[]): Promise<void> {
    this.#inFlight = batch.length;
    try {
      await this.options.send(batch).finally(() => (this.#inFlight = 0));
      this.#isFailing = false;
      const dropped = this.#unsent.takeDropped();
      if (dropped > 0) this.options.onDropped(dropped);
    } catch (error) {
      this.#isFailing = true;
      // If only the answer was lost, the entries are sent twice. That is better than to lose them.
      this.#unsent.putBack(batch);
      if (this.#isClosed) this.options.onUnwritten(this.#unsent.count, error);
    }
  }
}
