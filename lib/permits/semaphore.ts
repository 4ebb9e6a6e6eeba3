import {
  type AcquireOptions,
  type AcquireWaitOptions,
  type AttemptOptions,
  type RunOptions,
  parseAcquireOptions,
  parseRunOptions,
  parseWaitOptions,
} from './call-options.js';
import type { Context } from '../context/context.js';
import type { DeclaredDefinitions } from '../definitions/index.js';
import { type Explanation, explain } from './explanation.js';
import type { SkipReason } from '../context/events.js';
import { UnknownSemaphoreError } from '../definitions/definitions.errors.js';
import { HeldLeases } from './held-leases.js';
import type { Attempt, Permit } from './permit.js';
import { type SemaphoreClient, takesAway } from '../records/semaphore-records.js';
import { OrphanCleanup } from './orphan-cleanup.js';
import type { RunPermit } from './runs/run-permit.js';
import { type RunLeases, type RunResult, Runner } from './runs/runner.js';
import { WaitQueue } from './wait-queue.js';

/**
 * One semaphore, as this node uses it. The errors of all verbs: InvalidOptionsError for options that can't be used,
 * StoreUnavailableError (NoQuorumError) or UnknownOutcomeError when the store can't be asked in time,
 * CorruptRecordError or NewerRecordError when the record can't be read. A denial is a value, not an error.
 */
export class Semaphore {
  /** @internal */
  readonly heldLeases: HeldLeases;
  /** @internal */
  readonly orphans: OrphanCleanup;
  /** @internal */
  readonly runner: Runner;
  /** @internal */
  readonly line: WaitQueue;

  /** @internal Semaphores come from `gatekeeper.semaphore(name)`. */
  constructor(
    readonly recordClient: SemaphoreClient,
    private readonly declared: DeclaredDefinitions,
    private readonly context: Context,
  ) {
    this.orphans = new OrphanCleanup(recordClient, context);
    this.heldLeases = new HeldLeases(recordClient, this.orphans, context);
    this.runner = new Runner(recordClient.name, this.#runLeases(), context);
    this.line = new WaitQueue(
      recordClient.name,
      this.heldLeases,
      context,
      (permit) => recordClient.timeUntilExpiry(permit),
      () => declared.has(recordClient.name),
    );
    recordClient.listen({
      changed: (change) => takesAway(change) && this.#lookAgain(),
      confirmed: () => this.heldLeases.verify(),
    });
  }

  /** Name of the semaphore. */
  get name(): string {
    return this.recordClient.name;
  }

  /**
   * Tries once to get a permit; refreshes the one that this process (or the named holder) has already. Give every
   * permit back with `permit.release()`: it goes back to the store with the last use of it.
   *
   * @returns undefined when it is denied; `explain()` gives the reason
   * @throws UnknownSemaphoreError when the semaphore has no definition and no duration is given
   */
  async tryAcquire(options?: AcquireOptions): Promise<Permit | undefined> {
    const parsed = parseAcquireOptions(this.name, options);
    await this.declared.ensure(this.name, parsed.duration);
    const attempt = await this.#attempt(parsed);
    return attempt.permit ?? this.#denied(attempt);
  }

  /**
   * Waits for a permit: first come, first served in this process, and by chance between processes; a call that doesn't
   * match the acquirers' pattern stands aside until it does. Goes on waiting while the store can't be asked.
   *
   * @throws AcquireTimeoutError when `timeout` passes, or this node shuts down
   * @throws UnknownSemaphoreError when the semaphore has no definition and no duration is given
   * @throws the reason of `signal` when it aborts
   */
  async acquire(options?: AcquireWaitOptions): Promise<Permit> {
    const parsed = parseWaitOptions(this.name, options);
    await this.declared.ensure(this.name, parsed.duration);
    return this.line.acquire(parsed);
  }

  /**
   * Refreshes a permit now; never grants anew.
   *
   * @param options.duration from now on, ms or text, for this once; the one that the permit was taken with unless given;
   *   never shortens
   * @returns false when it was lost
   */
  refresh(permit: Permit, options?: { duration?: number | string }): Promise<boolean> {
    return permit.refresh(options);
  }

  /**
   * Gives one use of a permit back. Idempotent. A permit that a run left to expire stays all the same. When the store
   * can't be reached, the release is retried in the background until the permit expires.
   */
  release(permit: Permit): Promise<void> {
    return permit.release();
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
   * @throws RunSkippedError when it is skipped and `onSkip` is `'throw'`
   * @throws UnknownSemaphoreError when the semaphore has no definition and no duration is given
   */
  async run<T>(work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>> {
    const settings = parseRunOptions(this.name, options);
    await this.declared.ensure(this.name, settings.duration);
    return this.runner.run(work, settings);
  }

  /**
   * Explains the decision that this node would get now. Writes nothing. While nothing is granted at all it says so, with
   * the last known state of the semaphore.
   */
  explain(): Promise<Explanation> {
    return explain(this.recordClient, this.heldLeases, this.context);
  }

  /** A permit of this node may be gone, and a slot may be free: after any write, of this node or another. */
  #lookAgain(): void {
    this.heldLeases.verify();
    this.line.wake();
  }

  /** @internal Calls that wait end now, denied as `closing`. */
  stopWaiting(): void {
    this.line.wake();
    this.runner.stopWaiting();
  }

  /** @internal Gives back every permit that no run uses any more. */
  async close(): Promise<void> {
    this.runner.close();
    this.line.wake();
    await this.heldLeases.close();
  }

  #runLeases(): RunLeases {
    return {
      attempt: (options) => this.#attemptRun(options),
      release: (permit) => this.heldLeases.release(permit),
      holdUntilExpiry: (permit) => this.heldLeases.holdUntilExpiry(permit),
      endUse: (permit, reason) => this.heldLeases.endUse(permit, reason),
    };
  }

  /** A run that waits does so in the line, also for a definition that is still to be loaded. */
  async #attemptRun({ wait, ...options }: Parameters<RunLeases['attempt']>[0]): Promise<Attempt> {
    const waiting = wait === undefined ? this.#attempt(options) : this.line.attempt({ ...options, timeout: wait });
    const attempt = await waiting;
    if (!attempt.permit) this.#checkKnown(attempt.reason);
    return attempt;
  }

  /** Right after the start the store may still lack what this node's code defines: its calls wait for that. */
  async #attempt(options: AttemptOptions): Promise<Attempt> {
    const attempt = await this.heldLeases.attempt(options);
    if (attempt.permit || attempt.reason !== 'no-definition') return attempt;
    const isAwaited = this.recordClient.known === undefined && this.declared.has(this.name);
    return isAwaited && (await this.declared.firstLoad.wait(this.name)) ? this.heldLeases.attempt(options) : attempt;
  }

  #denied({ error, reason }: Attempt & { permit?: undefined }): undefined {
    if (error) throw error;
    this.#checkKnown(reason);
    this.context.events.next({ type: 'denied', semaphore: this.name, reason });
    return undefined;
  }

  /** A misspelt name must not look like a denial: nothing would ever run, without any error. */
  #checkKnown(reason: SkipReason): void {
    if (reason === 'no-definition' && !this.declared.has(this.name)) throw new UnknownSemaphoreError(this.name);
  }
}
