import type { StoreHealth } from './store-health.js';

/**
 * The store SPI: all that a backend implements. A driver keeps opaque texts in three collections, and knows nothing about
 * permits or tasks. Every system with a linearizable compare-and-set of one key and a clock can have one.
 *
 * A call of a collection, a journal or the clock ends within {@link OpenOptions.callTimeout}, a page within five times as long.
 * It fails with UnknownOutcomeError if a write may have been applied, or may still be applied; else with StoreUnavailableError, or
 * NoQuorumError if that is because there are too few members.
 */
export interface Driver {
  /**
   * Semaphores, members, owner maps and all else that nodes agree on. They are never removed.
   *
   * A driver that may lose writes without a trace, as by a failover to a copy that lacks the newest ones, returns a text
   * with the mark `DOUBT`, which the package exports, in front, from then until the next write of the key. It compares the marked text, too, and all
   * methods return it.
   */
  readonly records: RecordCollection;

  /** One text per task. */
  readonly tasks: OrderedCollection;

  /** Roots and pages of groups of tasks. */
  readonly groups: TextCollection;

  /** A queue by its name. Cheap: the store is only asked when the queue is used. */
  queue(name: string): HintQueue;

  /**
   * Opens a list of texts that all clients share. Its length is limited, and the oldest texts are dropped. For history,
   * never for decisions. Cheap: the store is only asked when the journal is used.
   *
   * @param name "runs", "audit", "moves-" and an allocation group: lower-case letters, digits and dashes
   */
  journal(name: string): Journal;

  /**
   * Calls `onChange` when a record changes. This is only a hint: changes may come late, twice, out of order or not at
   * all.
   * A text must come from a node of the cluster or from the store itself: nodes take it for one that they read, and restore it
   * if the store has an older one. A message that others can send is reported without its text, see `isUnproven`.
   *
   * `onChange` must not throw. Resolves even if the store can't be reached yet: the driver subscribes when it can. It
   * subscribes again after each reconnection, and then reports a change without a key, unless it can't have missed any.
   *
   * @returns a function that ends the watch
   */
  watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>>;

  /**
   * Announces that this client waits for changes of the record under `key` (absent: under any key). Call the returned
   * function to end the wait. Meanwhile its watch also hears of writes that notify only waiting clients. A write right
   * after the announcement may be missed. A driver without this method handles `'waiting'` like `'all'`.
   */
  awaitChanges?(key?: string): () => void;

  /**
   * Reads the clock of one member. Successive readings come from different members, in turn. A node uses these clocks
   * to end other nodes' permits only after it has read the clocks of as many members as {@link health} counts. Same
   * errors as {@link TextCollection.read}.
   */
  now(): Promise<ClockReading>;

  /**
   * Writes in a transaction of the application, if the store can take part in one.
   *
   * @param transaction whatever the store's users call a transaction
   * @throws InvalidOptionsError if it can't be used
   */
  within?(transaction: unknown): TransactionCollection;

  /**
   * Checks whether the cluster can serve the driver at all. Resolves after the first attempt to reach it, even if that
   * failed.
   *
   * @throws the error that every call would get, if the store was reached but can't work with these options
   */
  verify?(): Promise<void>;

  /** Health by the last calls. Synchronous, and does not ask the store. */
  health(): StoreHealth;

  /** Closes everything that the driver opened, but never a client that the application passed in. Idempotent. */
  close(): Promise<void>;
}

/** Texts under keys that change only by comparison, so that of two writers one learns that it came second. */
export interface TextCollection {
  /**
   * Reads one text. Right after the driver was opened, it first waits for the first attempt to connect, at most as long
   * as a call may take. So do the other methods that read.
   *
   * @returns the text under `key`, or undefined if there is none
   * @throws StoreUnavailableError if the store could not be asked
   */
  read(key: string): Promise<string | undefined>;

  /** The texts under these keys, at most {@link MOST_KEYS}. A key without a text is left out. Same errors as {@link read}. */
  readMany(keys: readonly string[]): Promise<Map<string, string>>;

  /**
   * Writes `next` (undefined: removes the text) if and only if the text under `key` is exactly `expected` (undefined: if
   * there is none). The answer `false` may be wrong if the store retried by itself after a lost answer. So callers look for
   * their nonce in the text before they rely on `false`.
   *
   * @throws UnknownOutcomeError if the write may have been applied, or may still be applied
   * @throws StoreUnavailableError if the write was surely not applied
   * @throws NoQuorumError if there are too few members; the write was surely not applied
   */
  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string | undefined,
    options?: WriteOptions,
  ): Promise<boolean>;
}

/** Options of {@link TextCollection.compareAndSet}. */
export interface WriteOptions {
  /** Only for records. Default `'all'`. */
  readonly notify?: Notify;
  /**
   * Only for tasks. Added with the write, and only if the write is made: never for a `false`. Best in the same step of the store.
   * A driver that needs a second step for it does not fail the write, nor delays its answer for long, if this step fails: like any
   * hint, this one may be lost, come twice, or be there although the answer of the write was lost.
   */
  readonly hint?: QueuedHint;
}

/** A hint for the end of a queue. */
export interface QueuedHint {
  /** Name of the queue, as for {@link Driver.queue}. */
  readonly queue: string;
  /** The hint. Often it is the text that is written. */
  readonly hint: string;
}

/** Texts that can be listed by their keys. */
export interface RecordCollection extends TextCollection {
  /** As in all collections, but a record is never removed. */
  compareAndSet(key: string, expected: string | undefined, next: string, options?: WriteOptions): Promise<boolean>;

  /**
   * One page of all texts whose key begins with `prefix`, small enough that it does not block the event loop. A text that
   * exists from the first page to the last is on exactly one page. A text that is first written meanwhile may be on no page.
   * Same errors as {@link read}.
   *
   * @param after `next` of the page before; default: the first page
   */
  page(prefix: string, after?: string): Promise<RecordPage>;
}

/** Texts that can be found by their order. */
export interface OrderedCollection extends TextCollection {
  /**
   * Texts with `from <= text < to`, in the order of their UTF-16 units, at most `limit`, beginning with the smallest. A
   * text that is written meanwhile may be left out. The cost depends on `limit`, not on the number of all texts, nor on
   * the number of matches. Same errors as {@link read}.
   *
   * @param limit at most 500
   */
  range(from: string, to: string, limit: number): Promise<TextEntry[]>;
}

/**
 * The clients that a write notifies: all (an edit), only those that wait for the key (a release), or none (a refresh).
 * Notifications are most of the cost of watching.
 */
export type Notify = 'all' | 'waiting' | 'none';

/**
 * Largest number of keys of one {@link TextCollection.readMany}, because all texts arrive in one turn of the event loop.
 */
export const MOST_KEYS = 500;

/** A part of a listing. */
export interface RecordPage {
  /** Texts by key. May be empty although more pages follow. */
  readonly texts: ReadonlyMap<string, string>;
  /** Argument for the next page; absent on the last page. Its format depends on the kind of store. */
  readonly next?: string;
}

/** A changed record. Without a key, anything may have changed, for instance after a reconnection. */
export interface RecordChange {
  /** The changed key. If absent, any key may have changed. */
  readonly key?: string;
  /** The new text. Undefined if the record was removed, or the change is unproven. */
  readonly text?: string;
  /**
   * Present if a message that any program may have sent tells of the change. Then there is no text. A node reads the record
   * if it knows it; a record that it does not know must cost nothing.
   */
  readonly isUnproven?: true;
}

/** A bounded list of texts that all clients share. */
export interface Journal {
  /**
   * Adds texts at the end.
   *
   * @throws StoreUnavailableError, UnknownOutcomeError; after the latter, a second try may append the texts twice
   */
  append(texts: readonly string[]): Promise<void>;

  /** The last `limit` texts, oldest first. Same errors as {@link TextCollection.read}. */
  read(limit: number): Promise<string[]>;
}

/** A text with its key. */
export interface TextEntry {
  /** Key of the text. */
  readonly key: string;
  /** The text. */
  readonly text: string;
}

/**
 * A queue of hints that all clients share, first in, first out. A hint may be lost, come twice, or go to a client that
 * never acts on it. So nothing may depend on it.
 */
export interface HintQueue {
  /** Adds hints at the end. */
  offer(hints: readonly string[]): Promise<void>;

  /**
   * Takes the first hint. Waits for one if the queue is empty. A hint that arrives after the signal aborted goes back to
   * the end of the queue, or is lost.
   *
   * @param patience ms of the wait
   * @returns undefined if there was no hint in this time, or the signal aborted
   * @throws also if the store is closed meanwhile
   */
  poll(patience: number, signal: AbortSignal): Promise<string | undefined>;

  /** Takes up to `most` hints from the front, without a wait. */
  drain(most: number): Promise<string[]>;

  /**
   * Removes each of these hints once, if it is there. Of more than some 10,000 hints, those far from both ends may stay: a
   * removal must not take long, however many there are.
   */
  remove(hints: readonly string[]): Promise<void>;

  /** The first hint, which stays in the queue. */
  peek(): Promise<string | undefined>;

  /** Number of hints in the queue. Cheap, whatever it is. */
  size(): Promise<number>;
}

/**
 * Texts of tasks in a transaction of the application: no other client sees them before its commit. Methods throw
 * StoreUnavailableError after each error, also if it is unknown whether the server carried the statement out: then the
 * application must roll back, and so nothing was written. The takers of a write's hint hear of it after the commit.
 */
export type TransactionCollection = Pick<TextCollection, 'read' | 'compareAndSet'>;

/** One reading of a member's clock. */
export interface ClockReading {
  /** ms since the epoch, by the clock of the member that answered. */
  readonly time: number;
  /** Name of the member; always the same for one member. */
  readonly member: string;
}

/**
 * A store with validated options, and a method to open it. `hazelcast(...)`, `memory()`, `postgres(...)`,
 * `redis(...)` and `remote(...)` return one.
 * Opening never waits for the store: it connects in the background. Reads and listings wait for the first attempt. All
 * other calls fail with StoreUnavailableError until the store is connected.
 */
export interface StoreDefinition {
  /** The kind of store, for logs and health: "hazelcast", "memory". */
  readonly kind: string;
  /** The servers and the part of them that it uses, in words and without secrets, for the log. Default: the kind. */
  readonly place?: string;
  /**
   * Whether only this process writes to the store. Then a missing record never existed, so definitions are created at
   * once, without `definitionsDelay`.
   */
  readonly isOwn?: boolean;
  /** Opens the driver; it connects in the background. */
  open(options?: OpenOptions): Driver;
}

/**
 * A store for an archive, which needs the records of a driver and nothing else. Every {@link StoreDefinition} is one, and
 * `files(...)` is one, too.
 */
export interface ArchiveStore extends Pick<StoreDefinition, 'kind' | 'place'> {
  /** Opens the driver; it connects in the background. */
  open(options?: OpenOptions): ArchiveDriver;
}

/** The part of a driver that an archive uses. */
export type ArchiveDriver = Pick<Driver, 'records' | 'close'>;

/** Options of {@link StoreDefinition.open}. */
export interface OpenOptions {
  /** Name of the node that opens the store. Its own writes need not reach its own watches. */
  readonly writer?: string;
  /** ms that a call may take. The driver starts no work for a call after that. */
  readonly callTimeout?: number;
  /**
   * Whether this client watches records, waits for changes or polls queues. If false, the driver need not keep a connection
   * for messages. Default true.
   */
  readonly hearsChanges?: boolean;
  /** Hears of the number of unproven messages since its last call, at most once a minute. Must not throw. */
  readonly onUnproven?: (count: number) => void;
  /** Hears why a hint could not be added after its write was made, if the driver adds it in a second step. Must not throw. */
  readonly onHintLost?: (error: unknown) => void;
}
