import type { z } from 'zod';
import type { CancelTimer } from '../async/node-clock.js';
import { inSlices } from '../async/slices.js';
import type { Journal } from '../stores/index.js';
import type { Context } from '../context/context.js';
import { answerWithin } from '../stores/answer-within.js';
import { LeftOut } from '../context/left-out.js';
import { decodeEntries } from './decode-entries.js';
import { UnsentEntries } from './unsent-entries.js';

/** ms for which entries are collected before they are sent together. */
const GATHERING = 100;
/** ms after a failure until unsent entries are sent again. */
const PATIENCE = 5000;

/**
 * Writes and reads one of the cluster's journals. No caller waits until an entry is written, and no decision depends on
 * an entry.
 *
 * Entries are collected for {@link GATHERING}, and a full batch is sent at once. Batches are sent one after the other,
 * to keep the order of the entries. After a failure the next batch waits for {@link PATIENCE}.
 */
export class JournalWriter<Entry extends object> {
  readonly #journal: Journal;
  readonly #unsent = new UnsentEntries();
  #isFailing = false;
  #cancelTimer?: CancelTimer;
  #isClosed = false;
  /** Present while batches are being sent. */
  #sending?: Promise<void>;
  /** Readings in progress, by their `limit`. */
  readonly #readings = new Map<number, Promise<readonly Entry[]>>();
  readonly #leftOut: LeftOut;

  constructor(
    readonly name: string,
    private readonly schema: z.ZodType<Entry>,
    private readonly context: Context,
  ) {
    this.#journal = context.store.journal(name);
    this.#leftOut = new LeftOut(`read the journal of ${name}`, context);
  }

  /** Number of entries that the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.#leftOut.count;
  }

  note(entry: Entry): void {
    this.#unsent.add(JSON.stringify(entry));
    if (this.#isClosed || this.#sending) return;
    if (this.#unsent.hasBatch && !this.#isFailing) this.#send();
    else this.#cancelTimer ??= this.#sendIn(GATHERING);
  }

  /**
   * Reads the last `limit` entries, oldest first. Invalid texts are left out and reported. Concurrent calls with the
   * same limit share one reading, because many users look at the same time after an incident.
   *
   * @throws StoreUnavailableError
   */
  async read(limit: number): Promise<Entry[]> {
    const reading = this.#readings.get(limit) ?? this.#read(limit).finally(() => this.#readings.delete(limit));
    this.#readings.set(limit, reading);
    return [...(await reading)];
  }

  async #read(limit: number): Promise<Entry[]> {
    const { timers, timing, nodeClock } = this.context;
    const texts = await answerWithin(timers, timing.callTimeout, `read the journal of ${this.name}`, () =>
      this.#journal.read(limit),
    );
    const { entries, faults } = await inSlices(decodeEntries(texts, this.schema), nodeClock);
    this.#leftOut.note(faults);
    return entries;
  }

  /** Tries once to send the remaining entries, and reports a failure. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#sending;
    await this.#sendBatches();
  }

  #sendIn(delay: number): CancelTimer {
    return this.context.nodeClock.schedule(() => this.#send(), delay);
  }

  #send(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#sending = this.#sendBatches().finally(() => {
      this.#sending = undefined;
      if (this.#isClosed || this.#unsent.count === 0) return;
      this.#cancelTimer = this.#sendIn(this.#isFailing ? PATIENCE : GATHERING);
    });
  }

  /** Sends all waiting entries, and full batches that arrive meanwhile, until the store fails. */
  async #sendBatches(): Promise<void> {
    let waiting = this.#unsent.count;
    do {
      const batch = this.#unsent.takeBatch();
      if (batch.length === 0) return;
      waiting -= batch.length;
      await this.#sendBatch(batch);
    } while (!this.#isFailing && (waiting > 0 || this.#unsent.hasBatch));
  }

  async #sendBatch(batch: readonly string[]): Promise<void> {
    const { timers, timing } = this.context;
    const what = `append entries to the journal of ${this.name}`;
    try {
      await answerWithin(timers, timing.callTimeout, what, () => this.#journal.append(batch));
      this.#isFailing = false;
      this.#reportDropped();
    } catch (error) {
      this.#isFailing = true;
      // If only the answer was lost, the entries will appear twice. That is better than to lose them.
      this.#unsent.putBack(batch);
      if (this.#isClosed) this.#reportUnwritten(error);
    }
  }

  #reportUnwritten(error: unknown): void {
    const action = `write ${this.#unsent.count} entries of ${this.name}`;
    this.context.events.next({ type: 'problem', action, error });
  }

  #reportDropped(): void {
    const dropped = this.#unsent.takeDropped();
    if (dropped === 0) return;
    const error = new Error(`${dropped} entries were dropped while the store could not be asked`);
    this.context.events.next({ type: 'problem', action: `write the journal of ${this.name}`, error });
  }
}
