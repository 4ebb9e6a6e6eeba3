import { Slices } from '../async/slices.js';
import { KEY_PREFIX } from '../decision/index.js';
import type { Context } from '../context/context.js';
import { isUnreadable } from './known-record.js';
import type { StoredRecord } from './record-codec.js';
import type { RecordClient } from './record-client.js';
import type { SweptRecords } from './swept-records.js';

/** Looks after one record at a time, from its text as a listing shows it. */
export class Caretaker<R extends StoredRecord> {
  readonly #slices: Slices;
  #isStopped = false;

  constructor(
    private readonly records: Pick<SweptRecords<R>, 'tidy'>,
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

  /** Waits for a later turn of the event loop when the slice of this one is used up. */
  async turn(): Promise<void> {
    if (this.#slices.isOver) await this.#slices.turn();
  }

  /**
   * Takes in the text of a record, and frees what expired in it. One that can't be used must not keep the others from
   * being looked after.
   *
   * @param text undefined: the listing lacks it
   */
  async examine(client: RecordClient<R>, text: string | undefined): Promise<void> {
    try {
      // A listing is not late news: a record that is behind or missing here was lost, and a look at it puts it back.
      if (text === undefined ? client.known !== undefined : !client.observe(text)) await client.look();
      await this.records.tidy(client);
    } catch (error) {
      this.report(error, 'examine', client.key.startsWith(KEY_PREFIX) ? client.name : client.key);
    }
  }

  report(error: unknown, action: string, semaphore?: string): void {
    // Once the store is closed, work that is still under way fails, and its result is not needed.
    if (isUnreadable(error) || this.#isStopped) return;
    this.context.events.next({ type: 'problem', semaphore, action, error });
  }
}
