import {
  CallHealth,
  type ClockReading,
  type Driver,
  HintPolls,
  type HintQueue,
  type Journal,
  type OrderedCollection,
  PrefixWatches,
  type RecordChange,
  type RecordCollection,
  type StoreDefinition,
  type StoreHealth,
  StoreUnavailableError,
  type TextCollection,
  UnknownOutcomeError,
} from 'nestjs-gatekeeper';
import { NoAnswerError, type Shelf, type Table } from './shelf.js';

/** For `GatekeeperModule.forRoot({ store: shelf(server) })`. */
export function shelf(server: Shelf): StoreDefinition {
  return { kind: 'shelf', open: () => new ShelfDriver(server) };
}

class ShelfDriver implements Driver {
  readonly records: RecordCollection = {
    ...this.#texts('records'),
    page: (prefix, after) => this.#ask((server) => server.page(prefix, after)),
  };
  readonly tasks: OrderedCollection = {
    ...this.#texts('tasks'),
    range: (from, to, limit) => this.#ask((server) => server.range(from, to, limit)),
  };
  readonly groups = this.#texts('groups');
  readonly #watches = new PrefixWatches();
  readonly #polls = new HintPolls();
  /** After a connection the watches look at everything again: changes may have been missed before it. */
  readonly #health = new CallHealth(() => this.#watches.tell({}));

  constructor(private readonly server: Shelf) {
    server.events.on('change', this.#onChange);
    server.events.on('offer', this.#onOffer);
    this.now().catch(() => undefined); // connects in the background; health() has the problem
  }

  journal(name: string): Journal {
    return {
      append: (texts) => this.#change((server) => server.append(name, texts)),
      read: (limit) => this.#ask((server) => server.last(name, limit)),
    };
  }

  queue(name: string): HintQueue {
    const offer = (hints: readonly string[]) => this.#change((server) => server.offer(name, hints));
    const drain = (most: number) => this.#change((server) => server.queue(name).splice(0, most));
    return {
      offer,
      drain,
      poll: (patience, signal) => this.#polls.poll({ name, offer, drain }, patience, signal),
      remove: (hints) => this.#change((server) => server.remove(name, hints)),
      peek: () => this.#ask((server) => server.queue(name)[0]),
      size: () => this.#ask((server) => server.queue(name).length),
    };
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    this.#health.assertOpen();
    return this.#watches.add(prefix, onChange);
  }

  /** The clock of the server, never that of the node. */
  now(): Promise<ClockReading> {
    return this.#ask((server) => ({ time: server.time(), member: 'shelf' }));
  }

  health(): StoreHealth {
    return this.#health.health();
  }

  async close(): Promise<void> {
    this.#health.close();
    this.#watches.clear();
    this.#polls.wakeAll(); // they look again, and fail
    this.server.events.off('change', this.#onChange);
    this.server.events.off('offer', this.#onOffer);
  }

  #texts(table: Table): TextCollection {
    return {
      read: (key) => this.#ask(({ tables }) => tables[table].get(key)),
      readMany: (keys) => this.#ask((server) => server.readMany(table, keys)),
      compareAndSet: (key, expected, next, { hint } = {}) =>
        this.#change((server) => server.compareAndSet(table, key, expected, next, hint)),
    };
  }

  #ask<T>(work: (server: Shelf) => T): Promise<T> {
    return this.#request(work, false);
  }

  #change<T>(work: (server: Shelf) => T): Promise<T> {
    return this.#request(work, true);
  }

  /** A read without an answer surely changed nothing. A write that was sent may have been made: only an answer tells. */
  async #request<T>(work: (server: Shelf) => T, isWrite: boolean): Promise<T> {
    this.#health.assertOpen();
    try {
      return this.#health.answered(await this.server.request(work));
    } catch (cause) {
      const Failure = isWrite && cause instanceof NoAnswerError ? UnknownOutcomeError : StoreUnavailableError;
      throw this.#health.failed(new Failure(`No answer from the shelf: ${(cause as Error).message}`, { cause }));
    }
  }

  readonly #onChange = (key: string, text: string): void => this.#watches.tell({ key, text });
  readonly #onOffer = (queue: string): void => void this.#polls.wake(queue);
}
