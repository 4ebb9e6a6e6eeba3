import type { Observable, Subject } from 'rxjs';
import { type NodeClock, systemClock } from '../clock/index.js';
import type { AcquireOptions, AcquireWaitOptions, ReadyOptions, RunOptions } from './options/call-options.js';
import type { Context, GatekeeperLogger, NodeIdentity, Randomness } from './context/context.js';
import { createContext } from './context/create-context.js';
import { Deadline, answerWithin } from './context/deadline.js';
import { Archivist, BoundedArchive, type CodeDefinitions, Definitions } from './definitions/index.js';
import { EventLog } from './context/event-log.js';
import { oneLineLogger } from './context/one-line-logger.js';
import type { Health } from './health/index.js';
import { Audit, type HistoryEntry, RunLog } from './journals/index.js';
import { NodeRegistry } from './nodes/index.js';
import type { GatekeeperEvent } from './context/events.js';
import { Housekeeping } from './housekeeping.js';
import type { Explanation } from './state/explanation.js';
import type { GatekeeperSettings } from './options/gatekeeper-options.js';
import { type Overview, readOverview } from './overview/index.js';
import type { Permit } from './leases/permit.js';
import { ProxiedPermits } from './leases/proxied-permits.js';
import { systemRandomness } from './context/random-ids.js';
import type { RunPermit } from './runs/run-permit.js';
import type { RunResult } from './runs/runner.js';
import { Readiness } from './readiness.js';
import { SemaphoreDirectory } from './semaphore-directory.js';
import type { Semaphore } from './semaphore.js';
import type { RecordStore } from '../stores/index.js';
import { type GatekeeperState, stateLines } from './state/state.js';
import { readState } from './state/state-reader.js';
import { StoreWatcher } from './records/store-watcher.js';

/** What tests put in the stead of the machine's clocks and chance. */
export interface Surroundings {
  readonly nodeClock?: NodeClock;
  readonly random?: Randomness;
}

/**
 * Permits of named semaphores over a store. It knows nothing of Nest. `start()` before the first use; `close()` ends
 * every timer, watch and connection that it owns.
 */
export class Gatekeeper {
  /** @internal Not true of a mock, nor of a gatekeeper that only tests use: such a one has no rules for guarded methods. */
  readonly isReal: boolean = true;
  readonly node: NodeIdentity;
  /** The definitions in force, and how to change them. */
  readonly definitions: Definitions;
  /** Which nodes live. */
  readonly registry: NodeRegistry;
  /** Who changed what. */
  readonly audit: Audit;
  /** @internal Permits for those who are no nodes. */
  readonly proxied: ProxiedPermits;
  readonly #runLog: RunLog;
  readonly #context: Context;
  readonly #logger: GatekeeperLogger;
  readonly #directory: SemaphoreDirectory;
  readonly #watcher: StoreWatcher;
  readonly #archivist?: Archivist;
  readonly #housekeeping: Housekeeping;
  readonly #events: Subject<GatekeeperEvent>;
  readonly #news: Subject<string>;
  #isClosing = false;
  #drained?: Promise<void>;
  #closed?: Promise<void>;

  constructor(
    private readonly settings: GatekeeperSettings,
    logger: GatekeeperLogger,
    { nodeClock = systemClock, random = systemRandomness() }: Surroundings = {},
  ) {
    const { group, acquirer } = settings;
    this.node = { group, acquirer, instance: random.instance() };
    this.#context = createContext(settings, { node: this.node, nodeClock, random, isClosing: () => this.#isClosing });
    ({ events: this.#events, news: this.#news } = this.#context);
    const archive = settings.persistence && new BoundedArchive(settings.persistence, this.#context);
    this.#directory = this.#createDirectory(archive);
    if (archive) this.#archivist = new Archivist(archive, this.#context, () => this.#directory.records);
    for (const definition of settings.definitions) this.code.expect(definition);
    this.audit = new Audit(this.#context);
    this.#runLog = new RunLog(this.#context, settings.history);
    this.registry = new NodeRegistry(this.#context, settings, this.#runLog);
    this.#context.health.leftOut = { runs: this.#runLog, audit: this.audit, nodes: this.registry };
    this.definitions = this.#createDefinitions();
    this.proxied = new ProxiedPermits((name, work) => this.#directory.visit(name, work), this.#context);
    this.#watcher = new StoreWatcher(this.#directory, this.#context, () => this.#housekeeping.mayLoad);
    this.#logger = oneLineLogger(logger);
    this.#housekeeping = this.#createHousekeeping();
    const log = new EventLog(this.#logger);
    this.#events.subscribe((event) => log.note(event));
  }

  /** All that happens on this node. Completes at {@link close}. */
  get events$(): Observable<GatekeeperEvent> {
    return this.#events.asObservable();
  }

  /**
   * Names of semaphores whose record changed, on whatever node, as this one gets to know it: at once where the store
   * tells, else when it next looks at all of them. Completes at {@link close}.
   */
  get changes$(): Observable<string> {
    return this.#news.asObservable();
  }

  /** @internal What this node's code brings along. */
  get code(): CodeDefinitions {
    return this.#directory.code;
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
    this.#context.clusterClock.start();
    await this.#watcher.start();
    await this.#housekeeping.start();
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
    await new Readiness(this.code, (name) => this.semaphore(name).keeper, this.#context).wait(options);
  }

  async #verifyStore(): Promise<void> {
    try {
      await this.#context.store.verify();
    } catch (error) {
      await this.close();
      throw error;
    }
  }

  /** @internal Another client of the store, which hears of this node's writes too; whoever opens it closes it. */
  openStore(): RecordStore {
    const { store, callTimeout } = this.settings;
    return store.open({ callTimeout });
  }

  /** The same verbs as here, bound to a name. @throws InvalidOptionsError, ReservedNameError */
  semaphore(name: string): Semaphore {
    return this.#directory.offer(name);
  }

  /** See {@link Semaphore.tryAcquire}. */
  async tryAcquire(name: string, options?: AcquireOptions): Promise<Permit | undefined> {
    return this.semaphore(name).tryAcquire(options);
  }

  /** See {@link Semaphore.acquire}. */
  async acquire(name: string, options?: AcquireWaitOptions): Promise<Permit> {
    return this.semaphore(name).acquire(options);
  }

  /** See {@link Semaphore.refresh}. */
  async refresh(permit: Permit, options?: { duration?: number | string }): Promise<boolean> {
    return this.#directory.get(permit.semaphore).refresh(permit, options);
  }

  /** See {@link Semaphore.release}. */
  async release(permit: Permit): Promise<void> {
    return permit.release();
  }

  /** See {@link Semaphore.getExpirationPeriod}. */
  getExpirationPeriod(permit: Permit): number {
    return permit.remaining;
  }

  /** See {@link Semaphore.run}. */
  async run<T>(name: string, work: (permit: RunPermit) => T | Promise<T>, options?: RunOptions): Promise<RunResult<T>> {
    return this.semaphore(name).run(work, options);
  }

  /** See {@link Semaphore.explain}. */
  async explain(name: string): Promise<Explanation> {
    return this.#directory.glimpse(name).explain();
  }

  /** The holders on all nodes. While the store can't be asked, they are as this node last knew, and `stale` says so. */
  state(): Promise<GatekeeperState> {
    return readState(this.#directory, this.#context);
  }

  /** Whether permits are granted through this node, and all that is wrong: by what is known without asking. */
  health(): Health {
    return this.#context.health.report();
  }

  /** {@link health} after a look whether the store answers: within `callTimeout`, 5 s at most. Never rejects. */
  checkHealth(): Promise<Health> {
    return this.#context.health.check();
  }

  /**
   * {@link state} with what each semaphore guards, when it runs next, how it ran last, and its warnings; and the nodes
   * that live. What the store can't be asked for is as it was last read, and `stale` says so.
   *
   * @param only the name of the one semaphore that is wanted: none where it was never defined
   */
  overview(only?: string): Promise<Overview> {
    const [directory, context] = [this.#directory, this.#context];
    return readOverview({ directory, context, registry: this.registry, runLog: this.#runLog }, only);
  }

  /**
   * The last runs on all nodes, oldest first, and what they were skipped for.
   *
   * @throws StoreUnavailableError
   */
  history(limit: number): Promise<HistoryEntry[]> {
    return this.#runLog.read(limit);
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
    this.proxied.close();
    this.code.firstLoad.end();
    const semaphores = [...this.#directory.known.values()];
    for (const semaphore of semaphores) semaphore.stopWaiting();
    const grace = new Deadline(this.#context.alarm, this.settings.shutdownGrace);
    await grace.race(Promise.all(semaphores.map(({ runner }) => runner.idle()))).catch(() => undefined);
  }

  async #close(): Promise<void> {
    await this.drain();
    this.#housekeeping.stop();
    await Promise.all([...this.#directory.known.values()].map((semaphore) => semaphore.close()));
    await this.#archivist?.close();
    await Promise.all([this.#runLog.close(), this.audit.close(), this.registry.close()]);
    this.#context.clusterClock.stop();
    await this.#endWatch();
    await this.#context.store.close();
    this.#context.alarm.close();
    this.#news.complete();
    this.#events.complete();
  }

  /** Whatever becomes of the watch, the store is closed: an open connection would keep the process alive. */
  async #endWatch(): Promise<void> {
    const { alarm, timing } = this.#context;
    await answerWithin(alarm, timing.callTimeout, 'end the watch', () => this.#watcher.stop()).catch((error) =>
      this.#events.next({ type: 'problem', action: 'end the watch', error }),
    );
  }

  #createDirectory(archive: BoundedArchive | undefined): SemaphoreDirectory {
    const { requireDefinitions, definitionsDelay, callTimeout, store } = this.settings;
    const archived = archive && (() => archive.archived());
    const loading = { atOnce: store.isOwn === true, patience: definitionsDelay + callTimeout, archived };
    return new SemaphoreDirectory(this.#context, { requireDefinitions, ...loading });
  }

  #createDefinitions(): Definitions {
    return new Definitions(this.#directory.keepers, this.code, this.audit, this.#context, () => this.registry.nodes());
  }

  #createHousekeeping(): Housekeeping {
    const chores = {
      sweep: () => this.#watcher.sweep().finally(() => this.#archivist?.save()),
      load: () => this.code.load(),
      dump: () => this.#dump(),
    };
    return new Housekeeping(this.#context, chores, this.settings);
  }

  async #dump(): Promise<void> {
    for (const line of stateLines(await this.state())) this.#logger.log(line);
  }
}
