import type { AcquireOptions, AcquireWaitOptions, RunOptions } from './call-options.js';
import type { Explanation } from './explanation.js';
import type { Permit } from './permit.js';
import type { RunPermit } from './runs/run-permit.js';
import type { RunResult } from './runs/runner.js';

/**
 * One semaphore, as this node uses it: `gatekeeper.semaphore(name)`. Tests may write a plain object in its place.
 *
 * A denial is a value, not an error. The errors of all verbs: InvalidOptionsError for options that can't be used,
 * StoreUnavailableError (NoQuorumError) or UnknownOutcomeError when the store can't be asked within `callTimeout`,
 * CorruptRecordError or NewerRecordError when the record can't be read.
 */
export interface Semaphore {
  /** Name of the semaphore. */
  readonly name: string;

  /**
   * Tries once to get a permit; refreshes the one that this process (or the named holder) has already. Give every
   * permit back with `permit.release()`: it goes back to the store with the last use of it.
   *
   * @param options.holder takes another permit than the rest of this process; the process itself unless given
   * @param options.acquirer for the acquirer pattern; the node's own name unless given
   * @param options.duration ms or text ("5m"); the definition's unless given
   * @param options.keepAlive refreshes the permit until it is released; default false
   * @returns undefined when it is denied; {@link explain} gives the reason
   * @throws UnknownSemaphoreError when the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError, StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  tryAcquire(options?: AcquireOptions): Promise<Permit | undefined>;

  /**
   * Waits for a permit: first come, first served in this process, and by chance between processes; a call that doesn't
   * match the acquirers' pattern stands aside until it does. Goes on waiting while the store can't be asked.
   *
   * @param options as of {@link tryAcquire}
   * @param options.timeout how long to wait, ms or text; without a limit unless given
   * @param options.signal gives up when it aborts
   * @throws AcquireTimeoutError when `timeout` passes, or this node shuts down
   * @throws UnknownSemaphoreError when the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError, or the reason of `signal` when it aborts
   */
  acquire(options?: AcquireWaitOptions): Promise<Permit>;

  /**
   * Refreshes a permit now; never grants anew.
   *
   * @param options.duration from now on, ms or text, for this once; the one that the permit was taken with unless given;
   *   never shortens
   * @returns false when it was lost
   * @throws StoreUnavailableError or UnknownOutcomeError when the store can't say; the permit then lasts as it did
   * @throws InvalidOptionsError
   */
  refresh(permit: Permit, options?: { duration?: number | string }): Promise<boolean>;

  /**
   * Gives one use of a permit back. Idempotent. A permit that a run left to expire stays all the same.
   *
   * @throws StoreUnavailableError or UnknownOutcomeError when the store can't say: the use is over all the same, and the
   *   release is retried in the background until the permit expires
   */
  release(permit: Permit): Promise<void>;

  /** ms for which this process may still count on the permit; 0 when it is over. */
  getExpirationPeriod(permit: Permit): number;

  /**
   * Runs `work` if a permit is free now, as `@ClusterSingleton` does with a method. A store that can't be asked is a
   * reason not to run (`unavailable`), not an error.
   *
   * @param options durations are ms or text; each option has its default in {@link RunOptions}
   * @returns the value of `work`, or the reason why it did not run
   * @throws any error of `work`
   * @throws RunSkippedError when it is skipped and `onSkip` is `'throw'`
   * @throws UnknownSemaphoreError when the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError
   */
  run<T>(work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>>;

  /**
   * Explains the decision that this node would get now. Writes nothing. While nothing is granted at all it says so, with
   * the last known state of the semaphore.
   *
   * @throws CorruptRecordError, NewerRecordError when the record can't be read
   */
  explain(): Promise<Explanation>;
}
