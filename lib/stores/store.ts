/**
 * The store SPI: everything that Gatekeeper needs from the place where records are kept. A store handles opaque texts and
 * knows nothing about permits. Every system with a linearizable compare-and-set of one key and a clock can be a store.
 */
export interface RecordStore {
  /**
   * Reads one text. Right after the store was opened, it first waits for the first attempt to connect, at most as long as
   * a call may take.
   *
   * @returns the text under `key`, or undefined when there is none
   * @throws StoreUnavailableError when the store could not be asked
   */
  read(key: string): Promise<string | undefined>;

  /**
   * Writes `next` if and only if the text under `key` is exactly `expected` (undefined: if there is none).
   * `false` may be untrue when the store retried on its own after an answer was lost: callers look for the nonce that
   * they wrote before they believe it.
   *
   * @param options.notify which clients hear of this write by their watches, `'all'` unless given
   * @throws UnknownOutcomeError when the write may or may not have been applied, or may still be
   * @throws StoreUnavailableError when it was surely not applied
   * @throws NoQuorumError when too few members are there; surely not applied
   */
  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    options?: { readonly notify?: Notify },
  ): Promise<boolean>;

  /** Every text whose key begins with `prefix`. Errors as {@link read}. */
  list(prefix: string): Promise<Map<string, string>>;

  /**
   * One page of {@link list}, small enough that taking it in does not hold up the event loop. A text that stands there
   * from the first page to the last is on exactly one of them; one that is written meanwhile may be on none. Optional:
   * without it all texts are one page. Errors as {@link read}.
   *
   * @param after `next` of the page before; absent: the first page
   */
  page?(prefix: string, after?: string): Promise<RecordPage>;

  /**
   * The texts under these keys, at most {@link MOST_KEYS}; a key without a text is left out. Optional: without it the
   * keys are read one by one. Errors as {@link read}.
   */
  readMany?(keys: readonly string[]): Promise<Map<string, string>>;

  /**
   * Calls `onChange` when a text changes. A hint that speeds things up, never relied on: changes may come late, twice,
   * out of order or not at all. `onChange` must not throw. Resolves at once even when the store can't be reached yet; the
   * store subscribes when it can, and again after each reconnection, then reporting a change without a key.
   *
   * @returns a function that ends the watch
   */
  watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>>;

  /**
   * Says that this client waits for changes of the text under `key` (absent: under any key), until the returned function
   * is called. From then on its watch also hears of writes that notify only clients that wait; a write of the first
   * moments may be missed. A store that can't tell who waits does nothing here, and takes `'waiting'` for `'all'`.
   */
  awaitChanges(key?: string): () => void;

  /**
   * Opens a list of texts of a fixed length, shared by all clients, from which the oldest fall out: for history, never
   * for decisions. Cheap: it asks the store only when it is used.
   *
   * @param name "runs", "audit"
   */
  journal(name: string): Journal;

  /**
   * Reads the clock of one member; successive readings come from different members, in turn. A node ends permits of
   * others by these clocks only once it has heard as many members as {@link health} counts. Errors as {@link read}.
   */
  now(): Promise<ClockReading>;

  /**
   * Checks whether the cluster can serve the store at all. Resolves once the first attempt to reach it is over, also when
   * that failed.
   *
   * @throws the error of every call, when the store was reached and can't serve as it is set up
   */
  verify?(): Promise<void>;

  /** Health as of the last calls, without asking: cheap and synchronous. */
  health(): StoreHealth;

  /** Closes all that the store opened, and nothing else: never a client that the user passed in. Idempotent. */
  close(): Promise<void>;
}

/**
 * Which clients hear of a write: all of them (an edit), only those that wait for the key (a release), or none (a refresh).
 * Notifications are most of the cost of watching.
 */
export type Notify = 'all' | 'waiting' | 'none';

/** Keys that one {@link RecordStore.readMany} may ask for: their texts, too, are taken in within one turn. */
export const MOST_KEYS = 500;

/** A part of a listing. */
export interface RecordPage {
  /** By key; may be empty although pages follow. */
  readonly texts: ReadonlyMap<string, string>;
  /** Asks for the page that follows; absent on the last one. Means something to the same kind of store only. */
  readonly next?: string;
}

/** A changed record. Without a key: anything may have changed, for instance after a reconnection. */
export interface RecordChange {
  /** The key that changed; absent: any may have. */
  readonly key?: string;
  /** The new text; undefined when it was removed. */
  readonly text?: string;
}

/** A bounded list of texts that all clients share. */
export interface Journal {
  /**
   * Adds texts at the end.
   *
   * @throws StoreUnavailableError; UnknownOutcomeError, after which a second try may append them twice
   */
  append(texts: readonly string[]): Promise<void>;

  /** The last `limit` texts, oldest first. Errors as of {@link RecordStore.read}. */
  read(limit: number): Promise<string[]>;
}

/** One reading of a member's clock. */
export interface ClockReading {
  /** ms since the epoch, by the clock of the member that answered. */
  readonly time: number;
  /** Name of the member: always the same for the same member. */
  readonly member: string;
}

/** The state of the store as its client knows it, without a call. */
export interface StoreHealth {
  /** Whether the client is connected to the cluster. */
  readonly connected: boolean;
  /** Members that the store now sees; 0 while disconnected. */
  readonly members: number;
  /** Members that must be seen before anything is granted; 0 when no quorum was asked for. */
  readonly quorum: number;
  /** The last failure to connect or to call, in a sentence, while it lasts. */
  readonly problem?: string;
}

/**
 * A store with validated options, as `hazelcast(...)`, `memory()` and `remote(...)` return it, and a way to open it.
 * Opening never waits for the store to be reachable: it connects in the background. Reads and listings wait for the first
 * attempt; all other calls fail with StoreUnavailableError until it is connected.
 */
export interface StoreDefinition {
  /** Names the kind of store in logs and health: "hazelcast", "memory". */
  readonly kind: string;
  /**
   * True of a store that only this process writes to: a record that it lacks never existed, so definitions are put into
   * it at once, without `definitionsDelay`.
   */
  readonly isOwn?: boolean;
  /** Opens the store; it connects in the background. */
  open(options?: OpenOptions): RecordStore;
}

export interface OpenOptions {
  /** Names the node that opens the store: its own writes need not reach its watches. */
  readonly writer?: string;
  /** How long callers wait for a call, in ms: the store begins no work for a call after that. */
  readonly callTimeout?: number;
}
