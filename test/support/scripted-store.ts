import type {
  ClockReading,
  Driver,
  Journal,
  RecordChange,
  RecordCollection,
  StoreDefinition,
  StoreHealth,
} from 'nestjs-gatekeeper';
import { PrefixWatches } from '../../lib/core/store/prefix-watches.js';

type Call = 'read' | 'readMany' | 'compareAndSet' | 'page' | 'now' | 'append' | 'readJournal' | 'close';

/** A store over another one: counts calls, and lets a test stand between. */
export class ScriptedStore implements Driver {
  readonly calls: Record<Call, number> = {
    read: 0,
    readMany: 0,
    compareAndSet: 0,
    page: 0,
    now: 0,
    append: 0,
    readJournal: 0,
    close: 0,
  };
  /** Called in the stead of every call but `close`; `go` passes it on. `key` is there for calls about keys, also several. */
  script?: (call: Call, go: () => Promise<unknown>, key?: string) => Promise<unknown>;

  /** Health that replaces the inner store's. */
  report?: StoreHealth;

  /** Whether hints get lost. */
  isDeaf = false;

  readonly #watches = new PrefixWatches();

  readonly records: RecordCollection = {
    read: (key) => this.#call('read', () => this.inner.records.read(key), key),
    readMany: (keys) => this.#call('readMany', () => this.inner.records.readMany(keys), keys.join()),
    compareAndSet: (key, expected, next, options) =>
      this.#call('compareAndSet', () => this.inner.records.compareAndSet(key, expected, next, options), key),
    page: (prefix, after) => this.#call('page', () => this.inner.records.page(prefix, after)),
  };

  /** Tasks are neither counted nor scripted. */
  readonly tasks: Driver['tasks'];
  readonly groups: Driver['groups'];
  readonly queue: Driver['queue'];

  constructor(private readonly inner: Driver) {
    this.tasks = inner.tasks;
    this.groups = inner.groups;
    this.queue = (name) => inner.queue(name);
  }

  now(): Promise<ClockReading> {
    return this.#call('now', () => this.inner.now());
  }

  watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>> {
    void this.#watches.add(prefix, onChange);
    return this.inner.watch(prefix, (change) => this.isDeaf || onChange(change));
  }

  /** Tells the watches of a change, as a message would. */
  tell(change: RecordChange): void {
    this.#watches.tell(change);
  }

  awaitChanges(key?: string): () => void {
    return this.inner.awaitChanges?.(key) ?? (() => undefined);
  }

  journal(name: string): Journal {
    const journal = this.inner.journal(name);
    return {
      append: (texts) => this.#call('append', () => journal.append(texts)),
      read: (limit) => this.#call('readJournal', () => journal.read(limit)),
    };
  }

  health(): StoreHealth {
    return this.report ?? this.inner.health();
  }

  close(): Promise<void> {
    this.calls.close++;
    return this.inner.close();
  }

  #call<T>(call: Call, go: () => Promise<T>, key?: string): Promise<T> {
    this.calls[call]++;
    return this.script ? (this.script(call, go, key) as Promise<T>) : go();
  }
}

/** A definition whose one opened store the test has in hand. */
export function scripted(definition: StoreDefinition): { store: ScriptedStore; definition: StoreDefinition } {
  const store = new ScriptedStore(definition.open());
  return { store, definition: { kind: 'scripted', open: () => store } };
}

export type Go = () => Promise<unknown>;

/** Does something else to the next write only. */
export function onNextWrite(store: ScriptedStore, answer: (go: Go) => Promise<unknown>): void {
  store.script = (call, go) => {
    if (call !== 'compareAndSet') return go();
    store.script = undefined;
    return answer(go);
  };
}
