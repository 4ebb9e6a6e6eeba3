/**
 * The store SPI: all that Gatekeeper asks of the place where records live. A store moves opaque texts; it knows nothing
 * of permits. Whatever offers a linearizable compare-and-set of one key and a clock can be a store.
 */
export interface RecordStore {
  /**
   * Right after the store was opened it waits for the first attempt to connect, at most as long as a call may take.
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
   * @param options.quiet nobody waits to hear of this write (a refresh): the store may leave it out of what it tells its
   *   watchers, which is most of what watching costs
   * @throws UnknownOutcomeError when the write may or may not have been applied, or may still be
   * @throws StoreUnavailableError when it was surely not applied
   * @throws NoQuorumError when too few members are there; surely not applied
   */
  compareAndSet(
    key: string,
    expected: string | undefined,
    next: string,
    options?: { readonly notify?: boolean },
  ): Promise<boolean>;

  /** Every text whose key begins with `prefix`. Errors as {@link read}. */
  list(prefix: string): Promise<Map<string, string>>;

  /**
   * Calls `onChange` when a text changes. A hint that speeds things up, never relied on: changes may come late, twice,
   * out of order or not at all. `onChange` must not throw. Resolves at once even when the store can't be reached yet; the store subscribes when it
   * can, and again after each reconnection, then reporting a change without a key.
   *
   * @returns a function that ends the watch
   */
  watch(prefix: string, onChange: (change: RecordChange) => void): Promise<() => Promise<void>>;

  /**
   * A list of texts of a fixed length, shared by all clients, from which the oldest fall out: for history. Nothing is
   * decided by it. Cheap: it asks the store only when it is used.
   *
   * @param name "runs", "audit"
   */
  journal(name: string): Journal;

  /**
   * One reading of the clock of a member; successive ones come from different members, in turn. A node ends what others
   * hold by these clocks only when it has heard as many members as {@link health} tells. Errors as {@link read}.
   */
  now(): Promise<ClockReading>;

  /**
   * For a store that its cluster may be unable to serve at all. Resolves once the first attempt to reach it is over, also
   * when that failed.
   *
   * @throws what every call is refused with, when the store was reached and can't serve as it is set up
   */
  verify?(): Promise<void>;

  /** What is known without asking: cheap and synchronous. */
  health(): StoreHealth;

  /** Closes what the store opened, and nothing else: never a client that the user passed in. Idempotent. */
  close(): Promise<void>;
}

/** A changed record, or (without a key) word that anything may have changed, as after a reconnection. */
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
   * @throws StoreUnavailableError or UnknownOutcomeError; whoever appends again may have them twice
   */
  append(texts: readonly string[]): Promise<void>;

  /** The last `limit` texts, oldest first. Errors as of {@link RecordStore.read}. */
  read(limit: number): Promise<string[]>;
}

/** One reading of a member's clock. */
export interface ClockReading {
  /** ms since the epoch, by the clock of the member that answered. */
  readonly time: number;
  /** Tells apart the members whose clocks answer; the same member always answers by the same name. */
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
 * What `hazelcast(...)`, `memory()` and their like return: options that were validated, and a way to open the store.
 * Opening never waits for the store to be reachable: it connects in the background. Reads and
 * listings wait for the first attempt; else calls fail with StoreUnavailableError until it is connected.
 */
export interface StoreDefinition {
  /** Names the kind of store in logs and health: "hazelcast", "memory". */
  readonly kind: string;
  /**
   * True of a store that nothing but this process writes to: what it lacks was never there, so that definitions are put
   * into it at once, without `definitionsDelay`.
   */
  readonly isOwn?: boolean;
  /** Opens the store; it connects in the background. */
  open(options?: OpenOptions): RecordStore;
}

export interface OpenOptions {
  /** Names whoever opens the store, so that it need not be told of its own writes. */
  readonly writer?: string;
  /** How long its caller waits for a call, in ms: what has not begun by then is not worth beginning. */
  readonly callTimeout?: number;
}
