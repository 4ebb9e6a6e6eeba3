import type { Observable } from 'rxjs';
import type { AcquireOptions, AcquireWaitOptions, ReadyOptions, RunOptions } from '../permits/call-options.js';
import { Deadline } from '../async/deadline.js';
import type { GatekeeperLogger } from '../context/context.js';
import type { NodeIdentity } from '../context/node-identity.js';
import type { Definitions } from '../definitions/index.js';
import type { Audit, HistoryEntry, NodeRegistry } from '../activity/index.js';
import type { GatekeeperEvent } from '../context/events.js';
import { type Health, type Overview, readOverview } from '../insight/index.js';
import type { GatekeeperState } from '../insight/state.js';
import { readState } from '../insight/state-reader.js';
import type { Explanation } from '../permits/explanation.js';
import type { Permit } from '../permits/permit.js';
import type { RunPermit } from '../permits/runs/run-permit.js';
import type { RunResult } from '../permits/runs/runner.js';
import type { Semaphore } from '../permits/semaphore.js';
import { answerWithin } from '../stores/answer-within.js';
import { oneLineLogger } from './event-log.js';
import type { GatekeeperSettings } from './gatekeeper-options.js';
import { type Environment, type Parts, createParts, keepParts } from './parts.js';
import { Readiness } from './readiness.js';

/**
 * Permits of named semaphores over a store. It knows nothing of Nest. `start()` before the first use; `close()` ends
 * every timer, watch and connection that it owns.
 */
export class Gatekeeper {
  /** This node, as its permits name it. */
  readonly node: NodeIdentity;
  /** The definitions in force, and how to change them. */
  readonly definitions: Definitions;
  /** The living nodes, and the jobs that they run. */
  readonly registry: NodeRegistry;
  /** The audit log: changes by people and by programs. */
  readonly audit: Audit;
  readonly #parts: Parts;
  #isClosing = false;
  #drained?: Promise<void>;
  #closed?: Promise<void>;

  constructor(
    private readonly settings: GatekeeperSettings,
    logger: GatekeeperLogger,
    environment?: Environment,
  ) {
    this.#parts = createParts(settings, oneLineLogger(logger), () => this.#isClosing, environment);
    const { context, definitions, registry, audit } = this.#parts;
    keepParts(this, this.#parts);
    this.node = context.node;
    this.definitions = definitions;
    this.registry = registry;
    this.audit = audit;
  }

  /** All that happens on this node. Completes at {@link close}. */
  get events$(): Observable<GatekeeperEvent> {
    return this.#parts.context.events.asObservable();
  }

  /**
   * Names of semaphores whose record changed on any node, as this one notices it: at once where the store sends a hint,
   * else when this node next looks at the record, if it defines or uses the semaphore. Completes at {@link close}.
   */
  get changes$(): Observable<string> {
    return this.#parts.context.changes.asObservable();
  }

  /**
   * Begins to connect, sample, watch and sweep. Waits for the store only where that must be verified (`cp: true`: for
   * the first attempt, at most 10 s), and goes on without it when it is not there.
   *
   * @throws what the store says that it lacks, when it is there and can't serve as it is set up
   */
  async start(): Promise<void> {
    await this.#verifyStore();
    if (this.#isClosing) return;
    this.#parts.context.clusterClock.start();
    await this.#parts.sweeping.start();
    await this.#parts.directory.birth.start();
    await this.#parts.housekeeping.start();
    this.registry.start();
  }

  /**
   * Waits until this node can decide: the store is connected, cluster time is known, and the definitions of this node's
   * code are in the store.
   *
   * @param options.timeout ms or text; 30 s unless given
   * @throws NotReadyError with what is lacking, when the time is over or this node shuts down
   * @throws InvalidOptionsError
   */
  async ready(options?: ReadyOptions): Promise<void> {
    const { context, directory } = this.#parts;
    await new Readiness(directory.declared, directory.own, directory.shards, context).wait(options);
  }

  async #verifyStore(): Promise<void> {
    try {
      await this.#parts.context.store.verify();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** The same verbs as here, bound to a name. @throws InvalidOptionsError, ReservedNameError */
  semaphore(name: string): Semaphore {
    return this.#parts.directory.offer(name);
  }

  /**
   * Tries once to get a permit; refreshes the one that this process (or the named holder) has already. Give every
   * permit back with `permit.release()`: it goes back to the store with the last use of it.
   *
   * @param name of the semaphore
   * @param options.holder takes another permit than the rest of this process; the process itself unless given
   * @param options.acquirer for the acquirer pattern; the node's own name unless given
   * @param options.duration ms or text ("5m"); the definition's unless given
   * @param options.keepAlive refreshes the permit until it is released; default false
   * @returns undefined when it is denied; {@link explain} gives the reason
   * @throws UnknownSemaphoreError when the semaphore has no definition and no duration is given
   * @throws StoreUnavailableError (NoQuorumError) or UnknownOutcomeError when the store can't be asked within `callTimeout`
   * @throws InvalidOptionsError, ReservedNameError, CorruptRecordError, NewerRecordError
   */
  async tryAcquire(name: string, options?: AcquireOptions): Promise<Permit | undefined> {
    return this.semaphore(name).tryAcquire(options);
  }

  /**
   * Waits for a permit: first come, first served in this process, and by chance between processes; a call that doesn't
   * match the acquirers' pattern stands aside until it does. Goes on waiting while the store can't be asked.
   *
   * @param name of the semaphore
   * @param options as of {@link tryAcquire}
   * @param options.timeout how long to wait, ms or text; without a limit unless given
   * @param options.signal gives up when it aborts
   * @throws AcquireTimeoutError when `timeout` passes, or this node shuts down
   * @throws UnknownSemaphoreError when the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError, ReservedNameError, or the reason of `signal` when it aborts
   */
  async acquire(name: string, options?: AcquireWaitOptions): Promise<Permit> {
    return this.semaphore(name).acquire(options);
  }

  /**
   * Refreshes a permit now; never grants anew.
   *
   * @param options.duration from now on, ms or text, for this once; the one that the permit was taken with unless given;
   *   never shortens
   * @returns false when it was lost
   * @throws StoreUnavailableError or UnknownOutcomeError when the store can't say; the permit then lasts as it did
   * @throws InvalidOptionsError
   */
  refresh(permit: Permit, options?: { duration?: number | string }): Promise<boolean> {
    return permit.refresh(options);
  }

  /**
   * Gives one use of a permit back. Idempotent. A permit that a run left to expire stays all the same.
   *
   * @throws StoreUnavailableError or UnknownOutcomeError when the store can't say: the use is over all the same, and the
   *   release is retried in the background until the permit expires
   */
  release(permit: Permit): Promise<void> {
    return permit.release();
  }

  /** ms for which this process may still count on the permit; 0 when it is over. */
  getExpirationPeriod(permit: Permit): number {
    return permit.remaining;
  }

  /**
   * Runs `work` if a permit is free now, as `@ClusterSingleton` does with a method. A store that can't be asked is a
   * reason not to run (`unavailable`), not an error.
   *
   * @param name of the semaphore
   * @param options durations are ms or text; each option has its default in {@link RunOptions}
   * @returns the value of `work`, or the reason why it did not run
   * @throws any error of `work`
   * @throws RunSkippedError when it is skipped and `onSkip` is `'throw'`
   * @throws UnknownSemaphoreError when the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError, ReservedNameError
   */
  async run<T>(name: string, work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>> {
    return this.semaphore(name).run(work, options);
  }

  /**
   * Explains the decision that this node would get now. Writes nothing. While nothing is granted at all it says so, with
   * the last known state of the semaphore.
   *
   * @throws InvalidOptionsError when no semaphore can have that name
   * @throws CorruptRecordError, NewerRecordError when the record can't be read
   */
  async explain(name: string): Promise<Explanation> {
    return this.#parts.directory.peek(name).explain();
  }

  /** The holders on all nodes. While the store can't be asked, they are as this node last knew, and `stale` says so. */
  state(): Promise<GatekeeperState> {
    return readState(this.#parts);
  }

  /** Whether permits are granted through this node, and all that is wrong: by what is known without asking. */
  health(): Health {
    return this.#parts.health.report();
  }

  /** {@link health} after a look whether the store answers: within `callTimeout`, 5 s at most. Never rejects. */
  checkHealth(): Promise<Health> {
    return this.#parts.health.check();
  }

  /**
   * {@link state} with what each semaphore guards, when it runs next, how it ran last, and its warnings; and the nodes
   * that live. What the store can't be asked for is as it was last read, and `stale` says so.
   *
   * @param only the name of the one semaphore that is wanted: none where it was never defined
   */
  overview(only?: string): Promise<Overview> {
    return readOverview(this.#parts, only);
  }

  /**
   * The last runs on all nodes, oldest first, and what they were skipped for.
   *
   * @throws StoreUnavailableError
   */
  history(limit: number): Promise<HistoryEntry[]> {
    return this.#parts.runHistory.read(limit);
  }

  /** Grants nothing new, and waits up to `shutdownGrace` for the runs that go on. Idempotent: the grace comes once. */
  drain(): Promise<void> {
    this.#drained ??= this.#drain();
    return this.#drained;
  }

  /** Drains, gives permits back, and closes what this gatekeeper opened. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #drain(): Promise<void> {
    this.#isClosing = true;
    this.#parts.external.close();
    this.#parts.directory.declared.firstLoad.end();
    this.#parts.directory.birth.stopWaiting();
    const semaphores = [...this.#parts.directory.inUse.values()];
    for (const semaphore of semaphores) semaphore.stopWaiting();
    const grace = new Deadline(this.#parts.context.timers, this.settings.shutdownGrace);
    await grace.race(Promise.all(semaphores.map(({ runner }) => runner.idle()))).catch(() => undefined);
  }

  async #close(): Promise<void> {
    await this.drain();
    this.#parts.housekeeping.stop();
    const semaphores = [...this.#parts.directory.inUse.values()];
    await Promise.all([this.#parts.sweeping.giveUpTurn(), ...semaphores.map((semaphore) => semaphore.close())]);
    await this.#parts.archivist?.close();
    await Promise.all([this.#parts.runHistory.close(), this.audit.close(), this.registry.close()]);
    this.#parts.context.clusterClock.stop();
    await this.#endWatch();
    await this.#parts.context.store.close();
    this.#parts.context.timers.close();
    this.#parts.context.changes.complete();
    this.#parts.context.events.complete();
  }

  async #stopWatching(): Promise<void> {
    await Promise.all([this.#parts.sweeping, this.#parts.directory.birth].map((watching) => watching.stop()));
  }

  /** The store is closed even when the watch does not end: an open connection would keep the process alive. */
  async #endWatch(): Promise<void> {
    const { timers, timing } = this.#parts.context;
    await answerWithin(timers, timing.callTimeout, 'end the watch', () => this.#stopWatching()).catch((error) =>
      this.#parts.context.events.next({ type: 'problem', action: 'end the watch', error }),
    );
  }
}
