import { Slices } from '../async/slices.js';
import { KEY_PREFIX } from '../decision/index.js';
import type { Context } from '../context/context.js';
import { isUnreadable } from './known-record.js';
import type { StoredRecord } from './record-codec.js';
import type { Cell } from './cell.js';
import type { SyncedRecords } from './synced-records.js';

/** Maintains one record at a time, starting from the text that a listing contains. */
export class RecordMaintainer<R extends StoredRecord> {
  readonly #slices: Slices;
  #isStopped = false;

  constructor(
    private readonly records: Pick<SyncedRecords<R>, 'tidy'>,
    private readonly context: Context,
  ) {
    this.#slices = Slices.of(context.nodeClock);
  }

  get isStopped(): boolean {
    return this.#isStopped;
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Waits for a later turn of the event loop if the slice of the present turn is used up. */
  async turn(): Promise<void> {
    if (this.#slices.isOver) await this.#slices.turn();
  }

  /**
   * Gives a listed text to the cell of its record, and frees expired permits. Reports an error instead of throwing
   * it, so that one bad record does not stop the work on the others.
   *
   * @param text undefined if the listing does not contain the record
   * @param askedAt as for `observe` of the cell
   */
  async examine(cell: Cell<R>, text: string | undefined, askedAt?: number): Promise<void> {
    try {
      // A listing is never late, unlike a hint: a record that is behind or missing was lost, and `look` restores it.
      if (text === undefined ? cell.known !== undefined : !cell.observe(text, askedAt)) await cell.look();
      await this.records.tidy(cell);
    } catch (error) {
      this.report(error, 'examine', cell.key.startsWith(KEY_PREFIX) ? cell.name : cell.key);
    }
  }

  report(error: unknown, action: string, semaphore?: string): void {
    // After the store is closed, the rest of the work fails, and its result is not needed.
    if (isUnreadable(error) || this.#isStopped) return;
    this.context.events.next({ type: 'problem', semaphore, action, error });
  }
}
