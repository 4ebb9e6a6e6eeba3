import { EventEmitter } from 'node:events';
import { setImmediate as hop } from 'node:timers/promises';

/** The request did not leave this process. */
export class NotSentError extends Error {}

/** The request was sent, and no answer came. */
export class NoAnswerError extends Error {}

export type Table = 'records' | 'tasks' | 'groups';

/** The server of this example: some Maps behind a network that can be down. Yours is a database. */
export class Shelf {
  readonly tables = {
    records: new Map<string, string>(),
    tasks: new Map<string, string>(),
    groups: new Map<string, string>(),
  };
  /** Journals and queues. */
  readonly lists = new Map<string, string[]>();
  /** Emits "change" with the key and the new text of a record, and "offer" when a queue gets a hint. */
  readonly events = new EventEmitter().setMaxListeners(0);
  isReachable = true;

  /** One step: nothing may come between the comparison and the write. */
  compareAndSet(table: Table, key: string, expected: string | undefined, next: string | undefined): boolean {
    const texts = this.tables[table];
    if (texts.get(key) !== expected) return false;
    if (next === undefined) texts.delete(key);
    else texts.set(key, next);
    if (table === 'records' && this.isReachable) this.events.emit('change', key, next);
    return true;
  }

  list(name: string): string[] {
    if (!this.lists.has(name)) this.lists.set(name, []);
    return this.lists.get(name)!;
  }

  /** Sends a request, and waits for its answer. */
  async request<T>(work: (shelf: this) => T): Promise<T> {
    if (!this.isReachable) throw new NotSentError('the shelf refuses connections');
    await hop();
    const answer = work(this);
    await hop();
    if (!this.isReachable) throw new NoAnswerError('the connection broke before the answer came');
    return answer;
  }
}
