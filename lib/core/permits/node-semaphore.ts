import {
  type AcquireOptions,
  type AcquireWaitOptions,
  type AttemptOptions,
  type RunOptions,
  type WaitOptions,
  parseAcquireOptions,
  parseRunOptions,
  parseWaitOptions,
} from './call-options.js';
import { type DenialReason, type StoredPermit, decide, mismatchOf, reservedNameFault } from '../decision/index.js';
import { UseCount } from '../async/use-count.js';
import { type Context, timeOf } from '../context/context.js';
import type { DeclaredDefinitions } from './declared/declared-definitions.js';
import type { Explanation } from './answers.js';
import { explain } from './explanation.js';
import type { SkipReason } from '../context/events.js';
import { UnknownSemaphoreError, AcquireTimeoutError } from './permits.errors.js';
import { HeldLeases } from './held-leases.js';
import type { AcquireOutcome, HeldPermit } from './held-permit.js';
import type { Permit } from './permit.js';
import { type NextHolder, type PreferenceRequest, nextHolderOf, preferring } from './preferences.js';
import { type SemaphoreChanged, type SemaphoreCell, takesAway } from '../cell/semaphore-records.js';
import { takeRequestedRun } from './requested-run.js';
import type { RunPermit } from './runs/run-permit.js';
import { type RunLeases, type RunResult, Runner, requested } from './runs/runner.js';
import { PermitMethods, type Semaphore } from './semaphore.js';
import type { SpreadMap } from './spread-map.js';
import { WaitQueue } from './wait-queue.js';

const BEHIND: AcquireOutcome = { reason: 'no-permit', holders: [] };

/**
 * A semaphore of this node, and the only place that reacts to changes of its record. If a permit is gone, ends earlier
 * than before, or the revision is new, the semaphore verifies its leases and wakes its queue.
 *
 * The node remembers at most one object of a name, because another one would not know its leases. The application may keep
 * any of them, for any time, and code makes names up without bound. So the node forgets those that are idle:
 *
 * | this object                              | the node remembers        | a call                              |
 * | ---------------------------------------- | ------------------------- | ----------------------------------- |
 * | has a call, a lease or a clean-up        | this one                  | uses this one                       |
 * | is idle after a use, code defines it     | this one                  | uses this one                       |
 * | is idle, the name is not in use          | none                      | makes the node remember this one    |
 * | is idle, another came into use meanwhile | the other one             | uses the other one                  |
 *
 * Weak references would give one object per name, too, but cost each new name more, and no test can say when the garbage
 * collector has taken which object.
 */
export class NodeSemaphore extends PermitMethods implements Semaphore {
  // Of use only in the object that the node remembers: see {@link use}. Created on first use: the application may keep many
  // idle objects, and most calls for names on demand neither run a job nor wait.
  #heldLeases?: HeldLeases;
  #runner?: Runner;
  #waitQueue?: WaitQueue;
  /** Counts calls, leases and clean-ups in progress. */
  readonly #uses = new UseCount(() => this.#forget());

  /** @param inUse the semaphores that the node remembers, by name */
  constructor(
    readonly cell: SemaphoreCell,
    private readonly declared: DeclaredDefinitions,
    private readonly context: Context,
    private readonly inUse: SpreadMap<NodeSemaphore>,
  ) {
    super();
  }

  get name(): string {
    return this.cell.name;
  }

  get heldLeases(): HeldLeases {
    return (this.#heldLeases ??= new HeldLeases(this.cell, this.#uses, this.context));
  }

  get runner(): Runner {
    return (this.#runner ??= new Runner(this.name, this.#runLeases(), this.context));
  }

  get waitQueue(): WaitQueue {
    return (this.#waitQueue ??= new WaitQueue(this.cell, this.context));
  }

  /**
   * Runs `work` with the object that the node remembers, and does not forget it before the work has ended.
   *
   * @throws any error of `work`
   */
  use<T>(work: (semaphore: NodeSemaphore) => Promise<T>): Promise<T> {
    const semaphore = this.#remembered();
    return semaphore.#uses.during(() => work(semaphore));
  }

  async tryAcquire(options?: AcquireOptions): Promise<Permit | undefined> {
    const parsed = parseAcquireOptions(this.name, options);
    const declaring = this.declared.ensure(this.name, parsed.duration);
    if (declaring) await declaring;
    const attempt = await this.use((semaphore) => semaphore.#attempt(parsed));
    return attempt.permit ?? this.#denied(attempt, parsed.duration);
  }

  async acquire(options?: AcquireWaitOptions): Promise<HeldPermit> {
    const parsed = parseWaitOptions(this.name, options);
    await this.declared.ensure(this.name, parsed.duration);
    const attempt = await this.use((semaphore) => semaphore.#wait(parsed));
    if (attempt.permit) return attempt.permit;
    throw new AcquireTimeoutError(this.name, parsed.timeout, attempt.reason, { cause: attempt.error });
  }

  async run<T>(work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>> {
    const settings = parseRunOptions(this.name, options);
    const request = takeRequestedRun(this.name, settings.job);
    await this.declared.ensure(this.name, settings.duration);
    return this.use(({ runner }) => runner.run(work, request ? requested(settings, request) : settings));
  }

  explain(): Promise<Explanation> {
    const { heldLeases } = this.inUse.get(this.name) ?? this;
    return explain(this.cell, heldLeases, this.context);
  }

  /**
   * Why the record, as last seen, would deny a new permit to this node now. Undefined if it would grant one, and while
   * cluster time is unknown. Does not ask the store.
   */
  get denial(): DenialReason | undefined {
    const { node, clusterClock } = this.context;
    if (!clusterClock.isFresh) return undefined;
    const request = { ...node, holder: node.instance, permitId: '', nonce: '' };
    const decision = decide(this.cell.known, request, this.cell.view());
    return decision.outcome === 'denied' ? decision.reason : undefined;
  }

  /**
   * A permit of another node, as this node last saw it, until it is surely over. Does not ask the store.
   *
   * @param slack ms for which it counts longer, because this node may not have seen its last refresh
   */
  othersPermit(slack: number): StoredPermit | undefined {
    const { node, timing } = this.context;
    const until = timeOf(this.context) - 2 * timing.clockTolerance - slack;
    const permits = this.cell.known?.permits ?? [];
    return permits.find(({ instance, expiresAt }) => instance !== node.instance && expiresAt > until);
  }

  /**
   * Keeps the next grant for the process for which it is kept already, or for all but that one, from now on.
   *
   * @param duration ms after which any node may get the permit
   * @param former for whom it was kept, if that is over
   * @throws StoreUnavailableError or UnknownOutcomeError
   */
  async renewPreference(duration: number, former?: NextHolder): Promise<void> {
    // Read with the write: an operator may just have chosen another one.
    const whom: PreferenceRequest['whom'] = (_record, _holder, kept) => (kept ? nextHolderOf(kept) : former);
    await this.cell.transact(preferring(this.context.random.id(), { whom, duration }));
  }

  /** Handles a change of the record by any node: a permit of this node may be gone, and a slot may be free. */
  onChange(change: SemaphoreChanged): void {
    if (!takesAway(change)) return;
    this.#heldLeases?.verify();
    this.#waitQueue?.wake();
    this.#runner?.reconsider();
  }

  /** Ends all waiting calls: they are denied as `closing`. Releases each permit as soon as its work has ended. */
  drain(): void {
    this.#waitQueue?.wake();
    // Also for a run that has not reached its runner yet.
    this.runner.stopWaiting();
    this.heldLeases.drain();
  }

  /** Releases every permit that no run uses any more. */
  async close(): Promise<void> {
    this.#runner?.close();
    this.#waitQueue?.wake();
    await this.heldLeases.close();
  }

  /** The object that the node remembers. From now on it is this one, if there is none. */
  #remembered(): NodeSemaphore {
    const remembered = this.inUse.get(this.name);
    if (!remembered) this.inUse.set(this.name, this);
    return remembered ?? this;
  }

  #forget(): void {
    if (!this.declared.has(this.name) && this.inUse.get(this.name) === this) this.inUse.delete(this.name);
  }

  #runLeases(): RunLeases {
    return {
      attempt: (options) => this.#attemptRun(options),
      mayRetry: (options) => this.#mayRetry(options),
      release: (permit) => this.heldLeases.release(permit),
      holdUntilExpiry: (permit) => this.heldLeases.holdUntilExpiry(permit),
      endUse: (permit, reason) => this.heldLeases.endUse(permit, reason),
    };
  }

  /** A further attempt is new work: a pause or a migration drains. The record as last seen decides. */
  #mayRetry({ acquirer }: Pick<AttemptOptions, 'acquirer'>): boolean {
    const { node } = this.context;
    const definition = this.cell.known?.definition;
    if (!definition) return false;
    return mismatchOf(definition, { group: node.group, acquirer: acquirer ?? node.acquirer }) === undefined;
  }

  /** A run with `wait` waits in the queue, also for a definition that is not loaded yet. */
  async #attemptRun({ wait, ...options }: Parameters<RunLeases['attempt']>[0]): Promise<AcquireOutcome> {
    const waiting = wait === undefined ? this.#attempt(options) : this.#wait({ ...options, timeout: wait });
    const attempt = await waiting;
    if (!attempt.permit) this.#checkKnown(attempt.reason, options.duration);
    return attempt;
  }

  /** Observes a call for a permit. The calls for the package's own semaphores are not the application's. */
  #observed(options: AttemptOptions, call: () => Promise<AcquireOutcome>): Promise<AcquireOutcome> {
    const { instrumentation, node } = this.context;
    if (!instrumentation || reservedNameFault(this.name) !== undefined) return call();
    return instrumentation.acquire(this.name, options.acquirer ?? node.acquirer, call);
  }

  #wait(options: WaitOptions): Promise<AcquireOutcome> {
    return this.#observed(options, () => this.#waitInQueue(options));
  }

  /** @throws the signal's reason if the signal aborts */
  async #waitInQueue(options: WaitOptions): Promise<AcquireOutcome> {
    options.signal?.throwIfAborted();
    const attempt = await this.waitQueue.wait((mayTake) => this.#ask(options, mayTake), options);
    // The caller gave up during the attempt, so the permit goes back: now, or in the background if the store is away.
    if (options.signal?.aborted) await attempt.permit?.release().catch(() => undefined);
    options.signal?.throwIfAborted();
    return attempt;
  }

  /** A holder that already has a permit does not wait for its turn: the first in the queue may wait for this permit. */
  async #ask(options: WaitOptions, mayTake: boolean): Promise<AcquireOutcome> {
    if (!mayTake && !this.heldLeases.holds(options.holder)) return BEHIND;
    const attempt = await this.heldLeases.tryOnce(options);
    if (!attempt.permit) this.#checkKnown(attempt.reason, options.duration);
    return attempt;
  }

  /**
   * Tries once. Right after the start, a call waits for a definition of this node's code that is not in the store yet.
   */
  #attempt(options: AttemptOptions): Promise<AcquireOutcome> {
    return this.#observed(options, () =>
      this.heldLeases
        .tryOnce(options)
        .then((attempt) => (this.#lacksOwnDefinition(attempt) ? this.#attemptOnceLoaded(attempt, options) : attempt)),
    );
  }

  /** Whether an attempt was denied because a definition of this node's code was missing, and it may be there now or soon. */
  #lacksOwnDefinition(attempt: AcquireOutcome): boolean {
    if (attempt.permit || attempt.reason !== 'no-definition' || !this.declared.has(this.name)) return false;
    // A removed definition stays missing until a reset, so its denial stays one read.
    return this.declared.isAwaited(this.name) || this.cell.known?.definition !== undefined;
  }

  /** Tries again when the definition may be in the store. It may have come between the denial and this look. */
  async #attemptOnceLoaded(denied: AcquireOutcome, options: AttemptOptions): Promise<AcquireOutcome> {
    const mayBeThere = !this.declared.isAwaited(this.name) || (await this.declared.awaitLoad(this.name));
    return mayBeThere ? this.heldLeases.tryOnce(options) : denied;
  }

  #denied({ error, reason }: AcquireOutcome & { permit?: undefined }, duration: number | undefined): undefined {
    if (error) throw error;
    this.#checkKnown(reason, duration);
    this.context.events.next({ type: 'denied', semaphore: this.name, reason });
    return undefined;
  }

  /** Throws for an unknown name. If a misspelt name were only denied, no error would say why nothing ever runs. */
  #checkKnown(reason: SkipReason, duration: number | undefined): void {
    if (reason !== 'no-definition' || this.declared.expects(this.name, duration)) return;
    throw new UnknownSemaphoreError(this.name);
  }
}
