import { setMaxListeners } from 'node:events';
import {
  type ClockReading,
  type Driver,
  type HintQueue,
  type Journal,
  type OrderedCollection,
  type RecordChange,
  type RecordCollection,
  type StoreDefinition,
  type StoreHealth,
  StoreUnavailableError,
  type TextCollection,
  UnknownOutcomeError,
} from 'nestjs-gatekeeper';
import { NoAnswerError, type Shelf, type Table } from './shelf.js';

/** Largest number of texts in a journal. */
const JOURNAL = 10_000;
/** Records on one page. */
const PAGE = 500;

/** For `GatekeeperModule.forRoot({ store: shelf(server) })`. */
export function shelf(server: Shelf): StoreDefinition {
  return { kind: 'shelf', open: () => new ShelfDriver(server) };
}

class ShelfDriver implements Driver {
  readonly records: RecordCollection = {
    ...this.#texts('records'),
    page: (prefix, after) => this.#page(prefix, after),
  };
  readonly tasks: OrderedCollection = {
    ...this.#texts('tasks'),
    // A database has an index for this.
    range: (from, to, limit) =>
      this.#ask(({ tables }) =>
        [...tables.tasks]
          .filter(([, text]) => text >= from && text < to)
          .toSorted(([, one], [, other]) => (one < other ? -1 : 1))
          .slice(0, limit)
          .map(([key, text]) => ({ key, text })),
      ),
  };
  readonly groups = this.#texts('groups');
  readonly #watches = new Set<{ readonly prefix: string; readonly onChange: (change: RecordChange) => void }>();
  readonly #closing = new AbortController();
  #problem: string | undefined = 'the first attempt to connect is under way';

  constructor(private readonly server: Shelf) {
    setMaxListeners(0, this.#closing.signal); // each poll that waits listens
    server.events.on('change', this.#onChange);
    this.now().catch(() => undefined); // connects in the background; health() has the problem
  }

  journal(name: string): Journal {
    return {
      append: (texts) =>
        this.#change(({ lists }) => void lists.set(name, [...(lists.get(name) ?? []), ...texts].slice(-JOURNAL))),
      read: (limit) => this.#ask((server) => (limit > 0 ? server.list(name).slice(-limit) : [])),
    };
  }

  queue(name: string): HintQueue {
    const drain = (most: number) => this.#change((server) => server.list(`queue ${name}`).splice(0, most));
    const offer = (hints: readonly string[]) =>
      this.#change((server) => {
        server.list(`queue ${name}`).push(...hints);
        server.events.emit('offer');
      });
    return {
      offer,
      drain,
      poll: async (patience, signal) => {
        const until = performance.now() + patience;
        for (;;) {
          const wait = this.#waitForOffer(until, signal); // before the look, so that no hint comes between the two
          try {
            const [hint] = signal.aborted ? [] : await drain(1);
            if (signal.aborted) return void (hint !== undefined && (await offer([hint])));
            if (hint !== undefined || performance.now() >= until) return hint;
            await wait.over;
          } finally {
            wait.end();
          }
        }
      },
      remove: (hints) =>
        this.#change((server) => {
          const list = server.list(`queue ${name}`);
          for (const hint of hints) if (list.includes(hint)) list.splice(list.indexOf(hint), 1);
        }),
      peek: () => this.#ask((server) => server.list(`queue ${name}`)[0]),
      size: () => this.#ask((server) => server.list(`queue ${name}`).length),
    };
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    this.#assertOpen();
    const watch = { prefix, onChange };
    this.#watches.add(watch);
    return async () => void this.#watches.delete(watch);
  }

  /** The clock of the server, never that of the node. */
  now(): Promise<ClockReading> {
    return this.#ask(() => ({ time: Date.now(), member: 'shelf' }));
  }

  health(): StoreHealth {
    const problem = this.#closing.signal.aborted ? 'the store is closed' : this.#problem;
    if (problem !== undefined) return { connected: false, members: 0, quorum: 0, problem };
    return { connected: true, members: 1, quorum: 0 };
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#watches.clear();
    this.server.events.off('change', this.#onChange);
  }

  #texts(table: Table): TextCollection {
    return {
      read: (key) => this.#ask(({ tables }) => tables[table].get(key)),
      readMany: (keys) => this.#ask(({ tables }) => new Map([...tables[table]].filter(([key]) => keys.includes(key)))),
      compareAndSet: (key, expected, next) =>
        this.#change((server) => server.compareAndSet(table, key, expected, next)),
    };
  }

  /** A page begins behind the last key of the one before, so that no key moves to another page when one is added. */
  #page(prefix: string, after = ''): ReturnType<RecordCollection['page']> {
    return this.#ask(({ tables }) => {
      const keys = [...tables.records.keys()].filter((key) => key.startsWith(prefix) && key > after).toSorted();
      const page = keys.slice(0, PAGE);
      const texts = new Map(page.map((key) => [key, tables.records.get(key)!]));
      return { texts, ...(keys.length > PAGE && { next: page.at(-1)! }) };
    });
  }

  /** `over` resolves when a queue got a hint, and at the latest at this time, when the signal aborts, or at the close. */
  #waitForOffer(until: number, signal: AbortSignal): { readonly over: Promise<void>; end(): void } {
    const ends = [signal, this.#closing.signal];
    let end!: () => void;
    const over = new Promise<void>((resolve) => (end = resolve));
    const timer = setTimeout(end, until - performance.now());
    this.server.events.on('offer', end);
    for (const each of ends) each.addEventListener('abort', end);
    return {
      over,
      end: () => {
        clearTimeout(timer);
        this.server.events.off('offer', end);
        for (const each of ends) each.removeEventListener('abort', end);
      },
    };
  }

  /** A request that changes nothing: without an answer, surely nothing was changed. */
  #ask<T>(work: (server: Shelf) => T): Promise<T> {
    return this.#request(work, () => StoreUnavailableError);
  }

  /** A request that writes: once it was sent, only an answer says what became of it. */
  #change<T>(work: (server: Shelf) => T): Promise<T> {
    return this.#request(work, (error) =>
      error instanceof NoAnswerError ? UnknownOutcomeError : StoreUnavailableError,
    );
  }

  async #request<T>(
    work: (server: Shelf) => T,
    failureOf: (error: unknown) => typeof StoreUnavailableError,
  ): Promise<T> {
    this.#assertOpen();
    try {
      const answer = await this.server.request(work);
      this.#connected();
      return answer;
    } catch (cause) {
      this.#problem = `No answer from the shelf: ${(cause as Error).message}`;
      throw new (failureOf(cause))(this.#problem, { cause });
    }
  }

  /** Changes may have been missed while the shelf was out of reach. */
  #connected(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    for (const { onChange } of this.#watches) onChange({});
  }

  #assertOpen(): void {
    if (!this.#closing.signal.aborted) return;
    throw new StoreUnavailableError('The store is closed: open another one with its definition');
  }

  readonly #onChange = (key: string, text: string): void => {
    for (const { prefix, onChange } of this.#watches) if (key.startsWith(prefix)) onChange({ key, text });
  };
}
