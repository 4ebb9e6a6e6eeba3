import type { Observable, Subject } from 'rxjs';
import type { AcquireOptions, AcquireWaitOptions, ReadyOptions, RunOptions } from '../core/permits/call-options.js';
import { promised } from '../core/async/promised.js';
import { messageOf } from '../core/decision/index.js';
import type { GatekeeperLogger } from '../core/context/context.js';
import type { NodeIdentity } from '../core/context/node-identity.js';
import type { Definitions } from '../operate/definitions/index.js';
import type { Audit, HistoryEntry, NodeRegistry, Runs } from '../operate/activity/index.js';
import type { Membership } from '../core/members/index.js';
import type { EventOf, GatekeeperEvent } from '../core/context/events.js';
import type { GatekeeperState, Health, HealthRequest, Overview } from '../operate/insight/index.js';
import { readState } from '../operate/insight/state-reader.js';
import type { Allocation } from '../allocation/index.js';
import type { Cluster } from '../leadership/index.js';
import type { Explanation } from '../core/permits/answers.js';
import { type OwnPermit, ownPermits } from '../core/permits/own-permit.js';
import type { Permit } from '../core/permits/permit.js';
import type { RunPermit } from '../core/permits/runs/run-permit.js';
import type { RunResult } from '../core/permits/runs/runner.js';
import { PermitMethods, type Semaphore } from '../core/permits/semaphore.js';
import type { Tasks } from '../tasks/index.js';
import { type Environment, type Parts, buildParts, closeParts, startParts } from './build.js';
import { drainParts } from './drain.js';
import { oneLineLogger } from './event-log.js';
import type { GatekeeperSettings } from './gatekeeper-options.js';
import { keepParts } from './parts.js';
import { Readiness } from './readiness.js';
import { type ShutdownTime, shutdownTime } from './process.js';
import { observedNode } from './telemetry.js';

/**
 * Permits of named semaphores over a store. Independent of Nest. Call `start()` before the first use. It opens the store, and so
 * does a call that comes earlier. `close()` ends every timer, watch and connection that it owns.
 */
export class Gatekeeper extends PermitMethods {
  /** The identity of this node in its permits. */
  readonly node: NodeIdentity;
  /** The present definitions, and methods to change them. */
  readonly definitions: Definitions;
  /** The living nodes, and the jobs that they run. */
  readonly registry: NodeRegistry;
  /** The nodes that take part in leadership and allocation. Empty unless the option `membership` is set. */
  readonly membership: Membership;
  /** The audit log: changes by people and by programs. */
  readonly audit: Audit;
  /** The runs of all nodes, and the past of each job. */
  readonly runs: Runs;
  /** The leadership of scopes. In Nest applications, inject ClusterService instead. */
  readonly cluster: Cluster;
  /** The allocation groups of this node. In Nest applications, inject AllocationService instead. */
  readonly allocation: Allocation;
  /** The distributed tasks of this node. In Nest applications, inject TasksService instead. */
  readonly tasks: Tasks;
  readonly #parts: Parts;
  readonly #shutdown: ShutdownTime;
  #isClosing = false;
  #started?: Promise<void>;
  /** The start of the parts, over a verified store. */
  #begun?: Promise<void>;
  #drained?: Promise<void>;
  #closed?: Promise<void>;

  constructor(
    private readonly settings: GatekeeperSettings,
    private readonly logger: GatekeeperLogger,
    environment?: Environment,
  ) {
    super();
    this.#shutdown = shutdownTime(settings.shutdownGrace);
    const inTime = { ...settings, shutdownGrace: this.#shutdown.grace };
    this.#parts = buildParts(inTime, oneLineLogger(logger), () => this.#isClosing, environment);
    const { definitions, registry, membership, audit, runs, cluster, allocation, tasks } = this.#parts;
    keepParts(this, this.#parts);
    this.node = this.#parts.context.node;
    this.definitions = definitions;
    this.registry = registry;
    this.membership = membership;
    this.audit = audit;
    this.runs = runs;
    this.cluster = cluster;
    this.allocation = allocation;
    this.tasks = tasks;
  }

  /** All events of this node. Completes at {@link close}. */
  get events$(): Observable<GatekeeperEvent> {
    return this.#parts.context.events.asObservable();
  }

  /**
   * Calls `listener` for each event of one type. If it throws, a `problem` event reports the error.
   *
   * @returns a function that ends the calls; {@link close} ends them as well
   */
  on<T extends GatekeeperEvent['type']>(type: T, listener: (event: EventOf<T>) => void | Promise<void>): () => void {
    return listen(this.#parts.context.events, type, listener, oneLineLogger(this.logger));
  }

  /**
   * Names of semaphores whose record was changed by any node. This node notices a change at once if the store sends a
   * hint. Otherwise it notices the change at its next look at the record, if it defines or uses the semaphore.
   * Completes at {@link close}.
   */
  get changes$(): Observable<string> {
    return this.#parts.context.changes.asObservable();
  }

  /**
   * Starts to connect, to sample clocks, to watch and to sweep. Waits for the store only if it must be verified
   * (`cp: true`: for the first attempt, at most 10 s). If the store is unreachable, continues without it. Idempotent.
   *
   * @throws the store's error, if the store is reachable but does not have the features that its options ask for
   */
  start(): Promise<void> {
    this.#started ??= this.#start();
    return this.#started;
  }

  async #start(): Promise<void> {
    this.#parts.telemetry?.observe(observedNode(this.#parts));
    await this.#verifyStore();
    if (this.#isClosing) return;
    this.#begun = startParts(this.#parts, this.settings);
    await this.#begun;
  }

  /**
   * Waits until this node can decide: the store is connected, cluster time is known, and the definitions of this node's
   * code are in the store.
   *
   * @param options.timeout ms or text; default 30 s
   * @throws NotReadyError that names the missing part, after the timeout or when this node shuts down
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

  /** The methods of this class for one name. @throws InvalidOptionsError, ReservedNameError */
  semaphore(name: string): Semaphore {
    return this.#parts.directory.offer(name);
  }

  /**
   * Tries once to get a permit. If this process (or the named holder) already has a permit, refreshes it. Release every
   * result with `permit.release()`. The store's permit is released with its last use.
   *
   * @param name of the semaphore
   * @param options.holder name of the holder, to hold several permits in one process; default: the process itself
   * @param options.acquirer name that the acquirer pattern must match; default: the node's own name
   * @param options.duration ms or text ("5m", "PT5M"); default: the definition's duration
   * @param options.keepAlive refreshes the permit until it is released; default false
   * @returns undefined if the permit is denied; {@link explain} gives the reason
   * @throws UnknownSemaphoreError if the semaphore has no definition and no duration is given
   * @throws StoreUnavailableError (NoQuorumError) or UnknownOutcomeError if the store does not answer in `callTimeout`
   * @throws InvalidOptionsError, ReservedNameError, CorruptRecordError, NewerRecordError
   */
  tryAcquire(name: string, options?: AcquireOptions): Promise<Permit | undefined> {
    return promised(() => this.semaphore(name).tryAcquire(options));
  }

  /**
   * Waits for a permit. Calls of one process are served first in, first out; between processes the order is random. A
   * call that the group or acquirer pattern does not match blocks no other call, and waits until the pattern matches.
   * The wait goes on while the store can't be asked.
   *
   * @param name of the semaphore
   * @param options see {@link tryAcquire}
   * @param options.timeout how long to wait, ms or text; default: no limit
   * @param options.signal the call gives up when it aborts
   * @throws AcquireTimeoutError after `timeout`, or when this node shuts down
   * @throws UnknownSemaphoreError if the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError, ReservedNameError, or the reason of `signal` if it aborts
   */
  acquire(name: string, options?: AcquireWaitOptions): Promise<Permit> {
    return promised(() => this.semaphore(name).acquire(options));
  }

  /**
   * Runs `work` if it gets a permit, as `@ClusterSingleton` does with a method. If the store can't be asked, the run is
   * skipped (`unavailable`); that is not an error.
   *
   * @param name of the semaphore
   * @param options durations are ms or text; see {@link RunOptions} for the defaults
   * @returns the value of `work`, or the reason why the run was skipped
   * @throws any error of `work`
   * @throws RunSkippedError if the run is skipped and `onSkip` is `'throw'`
   * @throws UnknownSemaphoreError if the semaphore has no definition and no duration is given
   * @throws InvalidOptionsError, ReservedNameError
   */
  run<T>(name: string, work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>> {
    return promised(() => this.semaphore(name).run(work, options));
  }

  /**
   * Explains the decision that this node would get now. Writes nothing. If this node grants nothing at all, the result
   * says so, with the last known state of the semaphore.
   *
   * @throws InvalidOptionsError if the name is invalid
   * @throws CorruptRecordError, NewerRecordError if the record can't be read
   */
  async explain(name: string): Promise<Explanation> {
    return this.#parts.explain(name);
  }

  /** The holders on all nodes. If the store can't be asked, returns the last known holders, and `stale` says so. */
  state(): Promise<GatekeeperState> {
    return readState(this.#parts);
  }

  /** The permits that this node holds now, also for its leadership. Does not ask the store. */
  heldPermits(): readonly OwnPermit[] {
    return ownPermits([...this.#parts.directory.inUse.values()].map(({ heldLeases }) => heldLeases));
  }

  /** Whether this node can grant permits, and all known faults. Does not ask the store. */
  health(): Health {
    return this.#parts.health.report();
  }

  /** Asks the store (5 s at most), then returns {@link health}, without the warnings unless they are asked for. Never rejects. */
  checkHealth(request: HealthRequest = {}): Promise<Health> {
    return this.#parts.health.check(request);
  }

  /**
   * {@link state} with the jobs of each semaphore, their next and last runs, and warnings, and with the living nodes.
   * Parts that can't be read from the store are as last read, and `stale` says so.
   *
   * @param only name of a single semaphore; the overview has none if that semaphore was never defined
   */
  overview(only?: string): Promise<Overview> {
    return this.#parts.overviews.read(only);
  }

  /**
   * The last runs on all nodes, oldest first, with the reasons of skipped ones. A run that goes on is there after 2 s,
   * and as crashed if its node no longer lives. {@link runs} also finds older ones. @throws StoreUnavailableError
   */
  history(limit: number): Promise<HistoryEntry[]> {
    return this.#parts.runHistory.read(limit);
  }

  /**
   * Takes no more tasks, stops granting permits, and waits up to `shutdownGrace` for runs and tasks to end. Idempotent: it
   * waits only once.
   */
  drain(): Promise<void> {
    this.#drained ??= this.#drain();
    return this.#drained;
  }

  /** Drains, releases permits, and closes everything that this gatekeeper opened. Idempotent. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  #drain(): Promise<void> {
    this.#isClosing = true;
    return drainParts(this.#parts, this.#shutdown);
  }

  async #close(): Promise<void> {
    try {
      await this.drain();
    } finally {
      // A part that begins after the close would never end. The start reports its own error.
      await this.#begun?.catch(() => undefined);
      // Also after an error: permits must not stay, and an open connection would keep the process alive.
      await closeParts(this.#parts);
    }
  }
}

/**
 * Calls `listener` for each event of one type. An error of the listener never reaches the code that made the event: it
 * makes a `problem` event. An error about a `problem` event is logged instead, because it would call the listener again.
 *
 * @returns a function that ends the calls
 */
function listen<T extends GatekeeperEvent['type']>(
  events: Subject<GatekeeperEvent>,
  type: T,
  listener: (event: EventOf<T>) => void | Promise<void>,
  logger: Pick<GatekeeperLogger, 'error'>,
): () => void {
  const report = (error: unknown) => {
    if (type === 'problem') logger.error(`a listener for problems failed: ${messageOf(error)}`);
    else events.next({ type: 'problem', action: `call a listener for ${type}`, error });
  };
  const call = async (event: EventOf<T>) => {
    try {
      await listener(event);
    } catch (error) {
      report(error);
    }
  };
  const isWanted = (event: GatekeeperEvent): event is EventOf<T> => event.type === type;
  const subscription = events.subscribe((event) => {
    if (isWanted(event)) void call(event);
  });
  return () => subscription.unsubscribe();
}
