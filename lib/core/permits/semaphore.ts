import type { AcquireOptions, AcquireWaitOptions, RunOptions } from './call-options.js';
import type { Explanation } from './answers.js';
import type { Permit } from './permit.js';
import type { RunPermit } from './runs/run-permit.js';
import type { RunResult } from './runs/runner.js';

/** The methods of a gatekeeper and of a semaphore that take a permit, which knows its semaphore. */
export abstract class PermitMethods {
  /**
   * Refreshes a permit now. Never grants a new one.
   *
   * @param options.duration counted from now, for this refresh only, ms or text; default: the duration that the permit
   *   was acquired with; never shortens the permit
   * @returns false if the permit was lost
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer; the permit's end stays
   * @throws InvalidOptionsError
   */
  refresh(permit: Permit, options?: { duration?: number | string }): Promise<boolean> {
    return permit.refresh(options);
  }

  /**
   * Releases one use of a permit. Idempotent. A permit that a run left to expire is not released.
   *
   * @throws StoreUnavailableError or UnknownOutcomeError if the store gives no clear answer. Then the use has ended,
   *   and the release is retried in the background until the permit expires
   */
  release(permit: Permit): Promise<void> {
    return permit.release();
  }

  /** ms for which this process may still rely on the permit; 0 after its end. */
  getExpirationPeriod(permit: Permit): number {
    return permit.remaining;
  }
}

/**
 * One semaphore, as this node uses it: `gatekeeper.semaphore(name)`. Tests may use a plain object instead.
 *
 * A denial is a value, not an error. All methods may throw these errors: InvalidOptionsError for invalid options;
 * StoreUnavailableError (NoQuorumError) or UnknownOutcomeError if the store gives no clear answer within `callTimeout`;
 * CorruptRecordError or NewerRecordError if the record can't be read.
 */
export interface Semaphore extends PermitMethods {
  /** Name of the semaphore. */
  readonly name: string;

  /**
   * Tries once to get a permit. If this process (or the named holder) already has a permit, refreshes it. Release every
   * result with `permit.release()`. The store's permit is released with its last use.
   *
   * @param options.holder name of the holder, to hold several permits in one process; default: the process itself
   * @param options.acquirer name that the acquirer pattern must match; default: the node's own name
   * @param options.duration ms or text ("5m", "PT5M"); default: the definition's duration
   * @param options.keepAlive refreshes the permit until it is released; default false
   * @returns undefined if the permit is denied; {@link explain} gives the reason
   * @throws UnknownSemaphoreError if the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError, StoreUnavailableError, UnknownOutcomeError, CorruptRecordError, NewerRecordError
   */
  tryAcquire(options?: AcquireOptions): Promise<Permit | undefined>;

  /**
   * Waits for a permit. Calls of one process are served first in, first out; between processes the order is random. A
   * call that the group or acquirer pattern does not match blocks no other call, and waits until the pattern matches.
   * The wait goes on while the store can't be asked.
   *
   * @param options see {@link tryAcquire}
   * @param options.timeout how long to wait, ms or text; default: no limit
   * @param options.signal the call gives up when it aborts
   * @throws AcquireTimeoutError after `timeout`, or when this node shuts down
   * @throws UnknownSemaphoreError if the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError, or the reason of `signal` if it aborts
   */
  acquire(options?: AcquireWaitOptions): Promise<Permit>;

  /**
   * Runs `work` if it gets a permit, as `@ClusterSingleton` does with a method. If the store can't be asked, the run is
   * skipped (`unavailable`); that is not an error.
   *
   * @param options durations are ms or text; see {@link RunOptions} for the defaults
   * @returns the value of `work`, or the reason why the run was skipped
   * @throws any error of `work`
   * @throws RunSkippedError if the run is skipped and `onSkip` is `'throw'`
   * @throws UnknownSemaphoreError if the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError
   */
  run<T>(work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>>;

  /**
   * Explains the decision that this node would get now. Writes nothing. If this node grants nothing at all, the result
   * says so, with the last known state of the semaphore.
   *
   * @throws CorruptRecordError, NewerRecordError if the record can't be read
   */
  explain(): Promise<Explanation>;
}
