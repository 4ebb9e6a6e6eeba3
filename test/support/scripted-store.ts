import type {
  ClockReading,
  Journal,
  Notify,
  RecordPage,
  RecordChange,
  RecordStore,
  StoreDefinition,
  StoreHealth,
} from 'nestjs-gatekeeper';
import { onePage, readMany } from '../../lib/core/store/paging.js';
import { PrefixWatches } from '../../lib/core/store/prefix-watches.js';

type Call = 'read' | 'readMany' | 'compareAndSet' | 'list' | 'now' | 'append' | 'readJournal' | 'close';

/** A store over another one: counts calls, and lets a test stand between. */
export class ScriptedStore implements RecordStore {
  readonly calls: Record<Call, number> = {
    read: 0,
    readMany: 0,
    compareAndSet: 0,
    list: 0,
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

  /** Neither counted nor scripted. */
  readonly tasks: RecordStore['tasks'];

  constructor(private readonly inner: RecordStore) {
    this.tasks = inner.tasks;
  }

  read(key: string): Promise<string | undefined> {
    return this.#call('read', () => this.inner.read(key), key);
  }

  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    options?: { readonly notify?: Notify },
  ): Promise<boolean> {
    return this.#call('compareAndSet', () => this.inner.compareAndSet(key, expected, next, options), key);
  }

  list(prefix: string): Promise<Map<string, string>> {
    return this.#call('list', () => this.inner.list(prefix));
  }

  page(prefix: string, after?: string): Promise<RecordPage> {
    return this.#call('list', () => onePage(this.inner, prefix, after));
  }

  readMany(keys: readonly string[]): Promise<Map<string, string>> {
    return this.#call('readMany', () => readMany(this.inner, keys), keys.join());
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
    return this.inner.awaitChanges(key);
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
