import {
  type ClockReading,
  type Journal,
  type RecordChange,
  type RecordStore,
  type StoreDefinition,
  type StoreHealth,
  StoreUnavailableError,
  UnknownOutcomeError,
} from 'nestjs-gatekeeper';
import { NoAnswerError, type Shelf } from './shelf.js';

/** Largest number of texts in a journal. */
const JOURNAL = 10_000;

/** For `GatekeeperModule.forRoot({ store: shelfStore(shelf) })`. */
export function shelfStore(shelf: Shelf): StoreDefinition {
  return { kind: 'shelf', open: () => new ShelfStore(shelf) };
}

class ShelfStore implements RecordStore {
  readonly #watches = new Set<{ readonly prefix: string; readonly onChange: (change: RecordChange) => void }>();
  #problem: string | undefined = 'the first attempt to connect is under way';
  #isClosed = false;

  constructor(private readonly shelf: Shelf) {
    shelf.events.on('change', this.#onChange);
    this.now().catch(() => undefined); // connects in the background; health() has the problem
  }

  read(key: string): Promise<string | undefined> {
    return this.#ask((shelf) => shelf.texts.get(key));
  }

  compareAndSet(key: string, expected: string | undefined, next: string): Promise<boolean> {
    return this.#change((shelf) => shelf.compareAndSet(key, expected, next));
  }

  list(prefix: string): Promise<Map<string, string>> {
    return this.#ask((shelf) => new Map([...shelf.texts].filter(([key]) => key.startsWith(prefix))));
  }

  async watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    this.#assertOpen();
    const watch = { prefix, onChange };
    this.#watches.add(watch);
    return async () => void this.#watches.delete(watch);
  }

  /** This store notifies all clients of all writes, so it need not know which of them wait. */
  awaitChanges(): () => void {
    return () => undefined;
  }

  journal(name: string): Journal {
    return {
      append: (texts) =>
        this.#change(({ journals }) => {
          journals.set(name, [...(journals.get(name) ?? []), ...texts].slice(-JOURNAL));
        }),
      read: (limit) => this.#ask(({ journals }) => (limit > 0 ? (journals.get(name) ?? []).slice(-limit) : [])),
    };
  }

  /** The clock of the server, never that of the node. */
  now(): Promise<ClockReading> {
    return this.#ask(() => ({ time: Date.now(), member: 'shelf' }));
  }

  health(): StoreHealth {
    const problem = this.#isClosed ? 'the store is closed' : this.#problem;
    if (problem !== undefined) return { connected: false, members: 0, quorum: 0, problem };
    return { connected: true, members: 1, quorum: 0 };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#watches.clear();
    this.shelf.events.off('change', this.#onChange);
  }

  /** A request that changes nothing: without an answer, surely nothing was changed. */
  async #ask<T>(work: (shelf: Shelf) => T): Promise<T> {
    this.#assertOpen();
    try {
      const answer = await this.shelf.request(work);
      this.#connected();
      return answer;
    } catch (error) {
      throw new StoreUnavailableError(this.#failed(error), { cause: error });
    }
  }

  /** A request that writes: once it was sent, only an answer says what became of it. */
  async #change<T>(work: (shelf: Shelf) => T): Promise<T> {
    this.#assertOpen();
    try {
      const answer = await this.shelf.request(work);
      this.#connected();
      return answer;
    } catch (error) {
      const Failure = error instanceof NoAnswerError ? UnknownOutcomeError : StoreUnavailableError;
      throw new Failure(this.#failed(error), { cause: error });
    }
  }

  /** Changes may have been missed while the shelf was out of reach. */
  #connected(): void {
    if (this.#problem === undefined) return;
    this.#problem = undefined;
    for (const { onChange } of this.#watches) onChange({});
  }

  #failed(error: unknown): string {
    return (this.#problem = `No answer from the shelf: ${(error as Error).message}`);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new StoreUnavailableError('The store is closed: open another one with its definition');
  }

  readonly #onChange = (key: string, text: string): void => {
    for (const { prefix, onChange } of this.#watches) if (key.startsWith(prefix)) onChange({ key, text });
  };
}
