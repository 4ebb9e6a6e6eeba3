/**
 * One use of a permit, as `tryAcquire` and `acquire` give it. Several uses in one process may share a permit of the
 * store; it goes back with the last of them. Tests may write a plain object in its place.
 *
 * Give it back with {@link release}, or hold it by `await using permit = await semaphore.acquire()`.
 */
export interface Permit {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Id of the permit in the store: the same for all uses that share the permit, and kept by a refresh. */
  readonly id: string;
  /** 0 .. permits-1: the permit's place among those of the semaphore; also "node k of n". */
  readonly slot: number;
  /**
   * The fencing token: grows with every grant of the semaphore, and is kept by a refresh. Send it along with each write;
   * the resource keeps the highest per (semaphore, slot) and refuses lower ones.
   */
  readonly token: number;
  /** Process that holds the permit: a random id per process start. */
  readonly instance: string;
  /** Name of the acquirer that holds the permit: the node's own, unless the call named another. */
  readonly acquirer: string;
  /** Group of the node that holds the permit. */
  readonly group: string;
  /** Cluster time of the grant, in ms since 1970. */
  readonly grantedAt: number;
  /** Cluster time in ms since 1970 at which the permit ends in the store, unless it is refreshed. */
  readonly expiresAt: number;
  /** Whether this use asked for the permit to be refreshed until its release (option `keepAlive`). */
  readonly keepAlive: boolean;
  /** Always true. The permit of a run that `onUnavailable: 'run'` let through without one says false. */
  readonly isGuarded: boolean;
  /**
   * Aborts, with a PermitLostError as its reason, when the permit ends other than by {@link release}: at the latest
   * `clockTolerance` before its duration is over, so before another node can be granted the slot. A process that was
   * frozen in between gets the abort late; {@link assertHeld} is right even then.
   */
  readonly signal: AbortSignal;
  /** True while it is held, by the node's clocks, read now: right also after the process was frozen. */
  readonly isHeld: boolean;
  /** ms for which this process may still count on the permit; 0 when it is over. */
  readonly remaining: number;

  /**
   * Call it right before a step that must not be done without the permit. It asks no store.
   *
   * @throws PermitLostError when the permit is no longer held
   */
  assertHeld(): void;

  /**
   * Refreshes the permit now.
   *
   * @param duration from now on, for this once; ms or text ("5m"). The one that the permit was taken with unless given.
   *   Never shortens. Later refreshes, also those of keep-alive, go on with the duration that the permit was taken with.
   * @throws PermitLostError when it is no longer held
   * @throws StoreUnavailableError or UnknownOutcomeError when the store can't say; the permit then lasts as it did
   * @throws InvalidOptionsError for a duration that can't be used
   */
  extend(duration?: number | string): Promise<void>;

  /**
   * As {@link extend}, but a permit that was lost is an answer, not an error.
   *
   * @param options.duration as of {@link extend}
   * @returns false when the permit was lost
   * @throws StoreUnavailableError, UnknownOutcomeError, InvalidOptionsError as {@link extend}
   */
  refresh(options?: { duration?: number | string | undefined }): Promise<boolean>;

  /**
   * Gives this use back, and the permit itself with its last use. Idempotent. A permit that a run left to expire stays
   * all the same.
   *
   * @throws StoreUnavailableError or UnknownOutcomeError when the store can't say: this use is over all the same, and
   *   the release is retried in the background until the permit expires
   */
  release(): Promise<void>;

  /** {@link release}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;

  /** The permit's data for logs and answers, without the parts of the gatekeeper that it leads to. */
  toJSON(): object;
}
