import type { z } from 'zod';
import type { CancelTimer } from '../../clock/index.js';
import type { Journal } from '../../stores/index.js';
import type { Context } from '../context/context.js';
import { answerWithin } from '../context/deadline.js';
import { LeftOut } from '../context/left-out.js';
import { decodeEntries } from './decode-entries.js';

/** ms in which entries are gathered before they are sent together. */
const GATHERING = 100;
/** ms after which entries that could not be sent are sent again. */
const PATIENCE = 5000;
/** Entries kept while the store can't be asked; beyond that the oldest are dropped, and it is told how many. */
const MOST_KEPT = 1000;

/**
 * One of the cluster's journals, as this node writes and reads it. Nobody waits for an entry to be written, and nothing
 * is decided by what stands there.
 */
export class JournalWriter<Entry extends object> {
  readonly #journal: Journal;
  #waiting: string[] = [];
  #dropped = 0;
  #cancelTimer?: CancelTimer;
  #isClosed = false;
  #flushing?: Promise<void>;
  /** Readings that are under way, by how many entries they are of. */
  readonly #readings = new Map<number, Promise<readonly Entry[]>>();
  readonly #leftOut: LeftOut;

  constructor(
    readonly name: 'runs' | 'audit',
    private readonly schema: z.ZodType<Entry>,
    private readonly context: Context,
  ) {
    this.#journal = context.store.journal(name);
    this.#leftOut = new LeftOut(`read the journal of ${name}`, context);
  }

  /** How many entries the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.#leftOut.count;
  }

  note(entry: Entry): void {
    this.#waiting.push(JSON.stringify(entry));
    if (this.#waiting.length > MOST_KEPT) {
      this.#waiting.shift();
      this.#dropped++;
    }
    if (!this.#isClosed) this.#cancelTimer ??= this.#flushIn(GATHERING);
  }

  /**
   * The last `limit` entries, oldest first. Texts that are no entries are left out and reported. Calls that ask for the
   * same at the same time share one reading: many look at once when something has happened.
   *
   * @throws StoreUnavailableError
   */
  async read(limit: number): Promise<Entry[]> {
    const reading = this.#readings.get(limit) ?? this.#read(limit).finally(() => this.#readings.delete(limit));
    this.#readings.set(limit, reading);
    return [...(await reading)];
  }

  async #read(limit: number): Promise<Entry[]> {
    const { alarm, timing } = this.context;
    const texts = await answerWithin(alarm, timing.callTimeout, `read the journal of ${this.name}`, () =>
      this.#journal.read(limit),
    );
    const { entries, faults } = await decodeEntries(texts, this.schema);
    this.#leftOut.note(faults);
    return entries;
  }

  /** Sends what is left, once. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelTimer?.();
    await this.#flushing;
    await this.#flush();
  }

  #flushIn(delay: number): CancelTimer {
    return this.context.nodeClock.schedule(() => {
      this.#flushing = this.#flush();
    }, delay);
  }

  async #flush(): Promise<void> {
    const sent = this.#waiting.splice(0);
    if (sent.length === 0) return;
    try {
      const { alarm, timing } = this.context;
      const what = `take entries of the journal of ${this.name}`;
      await answerWithin(alarm, timing.callTimeout, what, () => this.#journal.append(sent));
      this.#told();
      this.#cancelTimer = this.#waiting.length > 0 && !this.#isClosed ? this.#flushIn(GATHERING) : undefined;
    } catch (error) {
      this.#keep(sent, error);
    }
  }

  /** An answer that was lost may make entries appear twice: better than not at all. */
  #keep(unsent: readonly string[], error: unknown): void {
    const kept = [...unsent, ...this.#waiting];
    this.#waiting = kept.slice(-MOST_KEPT);
    this.#dropped += kept.length - this.#waiting.length;
    if (!this.#isClosed) {
      this.#cancelTimer = this.#flushIn(PATIENCE);
    } else {
      this.context.events.next({ type: 'problem', action: `write ${kept.length} entries of ${this.name}`, error });
    }
  }

  #told(): void {
    if (this.#dropped === 0) return;
    const error = new Error(`${this.#dropped} entries were dropped while the store could not be asked`);
    this.context.events.next({ type: 'problem', action: `write the journal of ${this.name}`, error });
    this.#dropped = 0;
  }
}
