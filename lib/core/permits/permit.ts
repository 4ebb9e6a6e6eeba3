/**
 * One use of a permit, as `tryAcquire` and `acquire` return it. Several uses in one process may share a permit of the
 * store. It is released with the last use. Tests may use a plain object instead.
 *
 * Call {@link release} when the work is done, or write `await using permit = await semaphore.acquire()`.
 */
export interface Permit {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Id of the permit in the store. All uses that share the permit have the same id, and a refresh keeps it. */
  readonly id: string;
  /** Index of the permit, 0 .. permits-1. An application can use it as "node k of n". */
  readonly slot: number;
  /**
   * Fencing token: grows with every grant of the semaphore. A refresh keeps it. Send it with each write. The resource
   * keeps the highest token per (semaphore, slot) and refuses lower ones.
   */
  readonly token: number;
  /** Id of the process that holds the permit: random, new at each start. */
  readonly instance: string;
  /** Name of the acquirer that holds the permit: the node's own name, unless the call gave another. */
  readonly acquirer: string;
  /** Group of the node that holds the permit. */
  readonly group: string;
  /** Cluster time of the grant, in ms since 1970. */
  readonly grantedAt: number;
  /** Cluster time in ms since 1970 at which the permit ends in the store, unless it is refreshed. */
  readonly expiresAt: number;
  /** Whether this use asked for the permit to be refreshed until its release (option `keepAlive`). */
  readonly keepAlive: boolean;
  /** Always true here. False only for a run without a permit (`onUnavailable: 'run'`). */
  readonly isGuarded: boolean;
  /**
   * Aborts when the permit ends without a {@link release}. The abort's reason is a PermitLostError. It comes at the
   * latest `clockTolerance` before the end of the permit's duration, so before another node can get the slot. A process
   * that was frozen gets the abort late, but {@link assertHeld} is correct even then.
   */
  readonly signal: AbortSignal;
  /** Whether the permit is held now. Reads the node's clocks, so it is correct even after the process was frozen. */
  readonly isHeld: boolean;
  /** ms for which this process may still rely on the permit; 0 after its end. */
  readonly remaining: number;

  /**
   * Call this right before a step that needs the permit. It does not ask the store.
   *
   * @throws PermitLostError if the permit is no longer held
   */
  assertHeld(): void;

  /**
   * Refreshes the permit now.
   *
   * @param duration counted from now, for this refresh only; ms or text ("5m"). Default: the duration that the permit
   *   was acquired with. Never shortens the permit. Later refreshes, also those of keep-alive, again use the duration
   *   that the permit was acquired with.
   * @throws PermitLostError if the permit is no longer held
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer; the permit's end stays
   * @throws InvalidOptionsError for an invalid duration
   */
  extend(duration?: number | string): Promise<void>;

  /**
   * Like {@link extend}, but returns false for a lost permit instead of an error.
   *
   * @param options.duration see {@link extend}
   * @returns false if the permit was lost
   * @throws StoreUnavailableError, UnknownOutcomeError, InvalidOptionsError; see {@link extend}
   */
  refresh(options?: { duration?: number | string | undefined }): Promise<boolean>;

  /**
   * Releases this use, and the permit itself with its last use. Idempotent. A permit that a run left to expire is not
   * released.
   *
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer. Then this use has ended,
   *   and the release is retried in the background until the permit expires
   */
  release(): Promise<void>;

  /** Calls {@link release}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;

  /** The permit's data, for logs and responses. */
  toJSON(): object;
}
