import {
  type AcquireOptions,
  type AcquireWaitOptions,
  type RunOptions,
  parseAcquireOptions,
  parseRunOptions,
  parseWaitOptions,
} from './call-options.js';
import type { Context } from './context.js';
import type { Definitions } from './definitions.js';
import { type Explanation, explain } from './explanation.js';
import { UnknownSemaphoreError } from './gatekeeper.errors.js';
import { type Attempt, Holdings } from './holdings.js';
import type { Permit, PermitOwner } from './permit.js';
import type { RecordKeeper } from './record-keeper.js';
import type { RunPermit } from './run-permit.js';
import { type RunResult, Runner } from './runner.js';
import { WaitingLine } from './waiting-line.js';

/**
 * One semaphore, as this node uses it. The errors of all verbs: InvalidOptionsError for options that can't be used,
 * StoreUnavailableError (NoQuorumError) or UnknownOutcomeError when the store can't be asked in time,
 * CorruptRecordError or NewerRecordError when the record can't be read. A denial is a value, not an error.
 */
export class Semaphore implements PermitOwner {
  /** @internal */
  readonly holdings: Holdings;
  /** @internal */
  readonly runner: Runner;
  /** @internal */
  readonly line: WaitingLine;

  /** @internal Semaphores come from `gatekeeper.semaphore(name)`. */
  constructor(
    readonly keeper: RecordKeeper,
    private readonly definitions: Definitions,
    private readonly context: Context,
  ) {
    this.holdings = new Holdings(keeper, this, context);
    this.runner = new Runner(keeper.name, this.holdings, context);
    this.line = new WaitingLine(keeper.name, this.holdings, context);
  }

  get name(): string {
    return this.keeper.name;
  }

  /**
   * Tries once to get a permit; refreshes the one that this process (or the named holder) has already. Give every
   * permit back with `permit.release()`: it goes back to the store with the last use of it.
   *
   * @returns undefined when it is denied; `explain()` tells why
   * @throws UnknownSemaphoreError when nobody defined the semaphore and no duration is given
   */
  async tryAcquire(options?: AcquireOptions): Promise<Permit | undefined> {
    const parsed = parseAcquireOptions(this.name, options);
    await this.definitions.ensure(this.name, parsed.duration);
    const attempt = await this.holdings.attempt(parsed);
    return attempt.permit ?? this.#orThrow(attempt);
  }

  /**
   * Waits for a permit: first come, first served in this process, and by chance between processes. Goes on waiting
   * while the store can't be asked.
   *
   * @throws AcquireTimeoutError when `timeout` passes, or this node shuts down
   * @throws the reason of `signal` when it aborts
   */
  async acquire(options?: AcquireWaitOptions): Promise<Permit> {
    const parsed = parseWaitOptions(this.name, options);
    await this.definitions.ensure(this.name, parsed.duration);
    return this.line.acquire(parsed);
  }

  /**
   * Refreshes a permit now; never grants anew.
   *
   * @param options.duration from now on, ms or text; the definition's unless given; never shortens
   * @returns false when it was lost
   */
  async refresh(permit: Permit, options: { duration?: number | string } = {}): Promise<boolean> {
    const { duration } = parseAcquireOptions(this.name, { duration: options.duration });
    return permit.isHeld && this.holdings.refresh(permit.lease, duration);
  }

  /** Gives one use of a permit back. Idempotent. When the store can't be told, it is told on until the permit expires. */
  release(permit: Permit): Promise<void> {
    return this.holdings.release(permit);
  }

  /** ms for which this process may still count on the permit; 0 when it is over. */
  getExpirationPeriod(permit: Permit): number {
    return permit.remaining;
  }

  /**
   * Runs `work` if a permit can be had now, as `@ClusterSingleton` does with a method. A store that can't be asked is a
   * reason not to run (`unavailable`), not an error.
   *
   * @throws whatever `work` throws
   */
  async run<T>(work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>> {
    const settings = parseRunOptions(this.name, options);
    await this.definitions.ensure(this.name, settings.duration);
    return this.runner.run(work, settings);
  }

  /** What would be decided now on this node, and why. Writes nothing. */
  explain(): Promise<Explanation> {
    return explain(this.keeper, this.holdings, this.context);
  }

  /** @internal Gives back every permit that no run uses any more. */
  async close(): Promise<void> {
    this.runner.close();
    this.line.wake();
    await this.holdings.close();
  }

  #orThrow(attempt: Attempt & { permit?: undefined }): undefined {
    if (attempt.error) throw attempt.error;
    if (attempt.reason === 'no-definition' && !this.definitions.isExpected(this.name)) {
      throw new UnknownSemaphoreError(this.name);
    }
    return undefined;
  }
}
