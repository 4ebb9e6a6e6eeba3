/**
 * The store SPI for tasks: texts under keys, ranges of texts by their order, and queues of hints. It stands beside
 * {@link RecordStore}, because tasks need what records don't: texts that are removed, and many of them.
 *
 * All methods throw as those of {@link RecordStore}: StoreUnavailableError (NoQuorumError) if surely nothing was changed,
 * UnknownOutcomeError if a write may have been applied, or may still be applied.
 */
export interface TaskStorage {
  /** One text per task. */
  readonly tasks: SortedTexts;
  /** Roots and pages of groups. */
  readonly groups: Texts;
  /** A queue by its name. Cheap: the store is only asked when the queue is used. */
  queue(name: string): HintQueue;
  /**
   * Writes in a transaction of the application, if the store can take part in one.
   *
   * @param transaction whatever the store's users call a transaction
   * @throws InvalidOptionsError if it can't be used
   */
  within?(transaction: unknown): TransactionTexts;
}

/**
 * Texts of tasks in a transaction of the application: no other client sees them before its commit. Methods throw
 * StoreUnavailableError after each error, also if it is unknown whether the server carried the statement out: then the
 * application must roll back, and so nothing was written.
 */
export interface TransactionTexts extends Pick<Texts, 'read' | 'create' | 'replace'> {
  /** Adds a hint at the end of a queue. Its takers hear of it after the commit. */
  offer(queue: string, hint: string): Promise<void>;
}

/** Texts under keys that change only by comparison, so that of two writers one learns that it came second. */
export interface Texts {
  /** The text under `key`, or undefined if there is none. */
  read(key: string): Promise<string | undefined>;

  /** The texts under these keys, at most 500. A key without a text is left out. */
  readMany(keys: readonly string[]): Promise<Map<string, string>>;

  /**
   * Writes `text` if there is none under `key`.
   *
   * @returns undefined if it was written, otherwise the text that is there
   */
  create(key: string, text: string): Promise<string | undefined>;

  /**
   * Writes `next` if the text under `key` is exactly `expected`. The answer `false` may be wrong if the store retried by
   * itself after a lost answer. So callers look for their nonce before they rely on `false`.
   */
  replace(key: string, expected: string, next: string): Promise<boolean>;

  /** Removes the text under `key` if it is exactly `expected`. `false` may be wrong as with {@link replace}. */
  remove(key: string, expected: string): Promise<boolean>;
}

/** Texts that can be found by their order. */
export interface SortedTexts extends Texts {
  /**
   * Texts with `from <= text < to`, in the order of their UTF-16 units, at most `limit`, beginning with the smallest. A
   * text that is written meanwhile may be left out. The cost depends on `limit`, not on the number of all texts, nor on
   * the number of matches.
   *
   * @param limit at most 500
   */
  range(from: string, to: string, limit: number): Promise<TextEntry[]>;
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
