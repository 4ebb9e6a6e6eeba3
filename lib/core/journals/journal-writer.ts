import type { z } from 'zod';
import { inSlices } from '../async/slices.js';
import { InvalidOptionsError, show } from '../decision/index.js';
import type { Journal } from '../store/index.js';
import type { Context } from '../context/context.js';
import { UnreadableEntries } from '../context/unreadable-entries.js';
import { Batches } from './batches.js';
import { decodeEntries } from './decode-entries.js';

/** ms for which entries are collected before they are sent together. */
const GATHERING = 100;
/** ms after a failure until unsent entries are sent again. */
const PATIENCE = 5000;

/**
 * Writes and reads one of the cluster's journals. No caller waits until an entry is written, and no decision depends on
 * an entry.
 */
export class JournalWriter<Entry extends object> {
  readonly #journal: Journal;
  readonly #batches: Batches<string>;
  /** Readings in progress, by their `limit`. */
  readonly #readings = new Map<number, Promise<readonly Entry[]>>();
  readonly #leftOut: UnreadableEntries;

  constructor(
    readonly name: string,
    private readonly schema: z.ZodType<Entry>,
    private readonly context: Context,
  ) {
    this.#journal = context.store.journal(name);
    this.#batches = new Batches(context.nodeClock, {
      gathering: GATHERING,
      patience: PATIENCE,
      send: (batch) => this.#journal.append(batch),
      onDropped: (count) => this.#reportDropped(count),
      onUnwritten: (count, error) => this.#report(`write ${numbered(count)} of the journal of ${name}`, error),
    });
    this.#leftOut = new UnreadableEntries(`read the journal of ${name}`, context);
  }

  /** Number of entries that the latest reading left out because they can't be read. */
  get unreadable(): number {
    return this.#leftOut.count;
  }

  append(entry: Entry): void {
    this.#batches.add(JSON.stringify(entry));
  }

  /**
   * Reads the last `limit` entries, oldest first. Invalid texts are left out and reported. Concurrent calls with the
   * same limit share one reading, because many users look at the same time after an incident.
   *
   * @throws StoreUnavailableError, InvalidOptionsError
   */
  async read(limit: number): Promise<Entry[]> {
    if (!(limit >= 0 && (Number.isInteger(limit) || limit === Infinity)))
      throw new InvalidOptionsError(`the journal of ${this.name}`, [`limit: ${show(limit)} is no number of entries`]);
    const reading = this.#readings.get(limit) ?? this.#read(limit).finally(() => this.#readings.delete(limit));
    this.#readings.set(limit, reading);
    return [...(await reading)];
  }

  async #read(limit: number): Promise<Entry[]> {
    const texts = await this.#journal.read(limit);
    const { entries, faults } = await inSlices(decodeEntries(texts, this.schema), this.context.nodeClock);
    this.#leftOut.note(faults);
    return entries;
  }

  /** Sends this node's waiting entries now, so that a reading has them. See {@link Batches.flush}. */
  flush(): Promise<void> {
    return this.#batches.flush();
  }

  /** Tries once to send the remaining entries, and reports a failure. */
  close(): Promise<void> {
    return this.#batches.close();
  }

  #reportDropped(count: number): void {
    const error = new Error(`${numbered(count)} got lost while the store could not be asked`);
    this.#report(`write the journal of ${this.name}`, error);
  }

  #report(action: string, error: unknown): void {
    this.context.events.next({ type: 'problem', action, error });
  }
}

function numbered(entries: number): string {
  return entries === 1 ? '1 entry' : `${entries} entries`;
}
