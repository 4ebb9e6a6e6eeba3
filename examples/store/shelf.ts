import { EventEmitter } from 'node:events';
import { setImmediate as hop } from 'node:timers/promises';
import type { QueuedHint } from 'nestjs-gatekeeper';

/** The request did not leave this process. */
export class NotSentError extends Error {}

/** The request was sent, and no answer came. */
export class NoAnswerError extends Error {}

export type Table = 'records' | 'tasks' | 'groups';

/** Largest number of texts in a journal. */
const JOURNAL = 10_000;
/** Records on one page. */
const PAGE = 500;

/** The server of this example: some Maps behind a network that can be down. Yours is a database. */
export class Shelf {
  readonly tables = {
    records: new Map<string, string>(),
    tasks: new Map<string, string>(),
    groups: new Map<string, string>(),
  };
  readonly journals = new Map<string, string[]>();
  readonly queues = new Map<string, string[]>();
  /** Emits "change" with the key and the new text of a record, and "offer" with the name of a queue that got a hint. */
  readonly events = new EventEmitter().setMaxListeners(0);
  isReachable = true;

  /** One step: nothing may come between the comparison and the write. The hint of a task goes along. */
  compareAndSet(
    table: Table,
    key: string,
    expected: string | undefined,
    next: string | undefined,
    hint?: QueuedHint,
  ): boolean {
    const texts = this.tables[table];
    if (texts.get(key) !== expected) return false;
    if (next === undefined) texts.delete(key);
    else texts.set(key, next);
    if (table === 'records' && this.isReachable) this.events.emit('change', key, next);
    if (hint) this.offer(hint.queue, [hint.hint]);
    return true;
  }

  readMany(table: Table, keys: readonly string[]): Map<string, string> {
    const texts = this.tables[table];
    return new Map(keys.filter((key) => texts.has(key)).map((key) => [key, texts.get(key)!]));
  }

  /** A page begins behind the last key of the one before, so that no key moves to another page when one is added. */
  page(prefix: string, after = ''): { readonly texts: Map<string, string>; readonly next?: string } {
    const keys = [...this.tables.records.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
    const page = keys.slice(0, PAGE);
    return { texts: this.readMany('records', page), ...(keys.length > PAGE && { next: page.at(-1)! }) };
  }

  /** A database has an index for this. */
  range(from: string, to: string, limit: number): { readonly key: string; readonly text: string }[] {
    const entries = [...this.tables.tasks].map(([key, text]) => ({ key, text }));
    const found = entries.filter(({ text }) => text >= from && text < to);
    return found.toSorted((one, other) => (one.text < other.text ? -1 : 1)).slice(0, limit);
  }

  append(journal: string, texts: readonly string[]): void {
    this.journals.set(journal, [...(this.journals.get(journal) ?? []), ...texts].slice(-JOURNAL));
  }

  /** The last texts of a journal. */
  last(journal: string, limit: number): string[] {
    return limit > 0 ? (this.journals.get(journal) ?? []).slice(-limit) : [];
  }

  queue(name: string): string[] {
    if (!this.queues.has(name)) this.queues.set(name, []);
    return this.queues.get(name)!;
  }

  offer(queue: string, hints: readonly string[]): void {
    this.queue(queue).push(...hints);
    this.events.emit('offer', queue);
  }

  remove(queue: string, hints: readonly string[]): void {
    const list = this.queue(queue);
    for (const hint of hints) if (list.includes(hint)) list.splice(list.indexOf(hint), 1);
  }

  /** The clock of the server, in ms since the epoch. */
  time(): number {
    return Date.now();
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
