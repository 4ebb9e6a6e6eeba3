import type {
  AuditEntry,
  BulkResult,
  DefinitionEdit,
  DefinitionState,
  Explanation,
  GatekeeperLogger,
  Health,
  HistoryEntry,
  JobSummary,
  JournalQuery,
  LeadersOverview,
  MaintenanceEnd,
  MaintenanceStart,
  MaintenanceWindow,
  MigrationPlan,
  MigrationRequest,
  NodeInfo,
  NodeOverview,
  RunNowPlan,
  RunNowStatus,
  UndoPlan,
  RunsQuery,
} from '../../gatekeeper/index.js';
import { systemClock } from '../../core/async/node-clock.js';
import type { LogLine } from '../../core/context/context.js';
// Not from the index, because that also loads Nest, which takes long.
import { inSlices } from '../../core/async/slices.js';
import { parseGatekeeperOptions } from '../../gatekeeper/gatekeeper-options.js';
import { Gatekeeper } from '../../gatekeeper/gatekeeper.js';
import { partsOf } from '../../gatekeeper/parts.js';
import { readLeaders } from '../../operate/insight/leaders-reader.js';
import { summaryOf } from '../../operate/activity/jobs/job-summary.js';
import { newestFirst } from '../../operate/activity/newest-first.js';
import { withHeldPermits } from '../../operate/insight/node-overview.js';
import { type SemaphoreDefinitionInput, omitUndefined } from '../../core/decision/index.js';
import { type StoreDefinition, StoreUnavailableError } from '../../core/store/index.js';
import type { BulkCall, ChangeMeta, Look, Operator, Overview, TaskOperator, WindowCall } from '../operator/operator.js';
import { CommandFailure, EXIT } from '../options/exit-code.js';
import { ConnectedStore } from './connected-store.js';
import { directTasks } from './direct-tasks.js';

const NO_RECEIVERS = 'only a node of the application has receivers of alerts: ask one with --url';
const NO_ALLOCATION = 'only a node of the group knows its resources: ask one with --url';

export interface DirectOptions {
  readonly store: StoreDefinition;
  /** Name of the target, for people. */
  readonly target: string;
  /** The author of changes, shown in the audit log. */
  readonly by: string;
  /** Maximum time in ms for the connection, and then for each call. */
  readonly timeout: number;
  /** The application's clockTolerance, in ms. Default: the gatekeeper's default. */
  readonly clockTolerance?: number | undefined;
  /** The node for which `explain` answers. */
  readonly group?: string | undefined;
  readonly acquirer?: string | undefined;
  readonly logger: GatekeeperLogger;
}

/**
 * Operates directly on the store. Acts like a node, but has no code and no registry entry, and never acquires a permit.
 */
export class DirectOperator implements Operator {
  readonly target: string;
  readonly tasks: TaskOperator;
  readonly #store: ConnectedStore;
  readonly #gatekeeper: Gatekeeper;
  readonly #by: string;
  #isConnected = false;

  private constructor({ store, target, by, timeout, logger, ...rest }: DirectOptions) {
    this.target = target;
    this.#by = by;
    this.#store = new ConnectedStore(store);
    const options = {
      ...omitUndefined(rest),
      store: this.#store,
      callTimeout: timeout,
      heartbeat: 0,
      history: false,
      // This process has not watched the clocks, and may have another tolerance than the application. So its writes
      // must not drop expired permits.
      strictStart: true,
    };
    this.#gatekeeper = new Gatekeeper(parseGatekeeperOptions(options), this.#onceConnected(logger));
    this.tasks = directTasks(partsOf(this.#gatekeeper), by);
  }

  /** @throws CommandFailure if the store can't be reached within `timeout` */
  static async open(options: DirectOptions): Promise<DirectOperator> {
    const operator = new DirectOperator(options);
    try {
      await operator.#gatekeeper.start();
      await operator.#store.connected(options.target, options.timeout);
      operator.#isConnected = true;
      return operator;
    } catch (error) {
      await operator[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Logs nothing before the store is connected: if that fails, the error of the command says why. */
  #onceConnected(logger: GatekeeperLogger): GatekeeperLogger {
    const from = (level: keyof GatekeeperLogger) => (message: LogLine) => {
      if (this.#isConnected) logger[level](message);
    };
    return { log: from('log'), warn: from('warn'), error: from('error'), debug: from('debug') };
  }

  health(): Promise<Health> {
    return this.#gatekeeper.checkHealth({ nodes: true });
  }

  /** @throws StoreUnavailableError if a part can't be read: this process has no last known state to show */
  async look(): Promise<Look & { readonly nodes: readonly NodeInfo[] }> {
    const health = await this.health();
    const overview = await this.#gatekeeper.overview();
    const [part] = overview.stale;
    if (part) throw new StoreUnavailableError(`nothing is granted: ${part.sentence}`);
    // The record of a removed semaphore has only a revision. The console does not list it either.
    const semaphores = overview.semaphores.filter(({ definition, problem }) => definition || problem);
    return { ...overview, semaphores, health };
  }

  overview(): Promise<Overview> {
    return this.look();
  }

  explain(name: string): Promise<Explanation> {
    return this.#gatekeeper.explain(name);
  }

  holding(name: string): Promise<Explanation> {
    return this.explain(name);
  }

  define(input: SemaphoreDefinitionInput, meta: ChangeMeta): Promise<DefinitionState> {
    return this.#gatekeeper.definitions.define(input, this.#signed(meta));
  }

  edit(name: string, changes: DefinitionEdit, meta: ChangeMeta): Promise<DefinitionState> {
    return this.#gatekeeper.definitions.edit(name, changes, this.#signed(meta));
  }

  pause(name: string, meta: ChangeMeta): Promise<DefinitionState> {
    return this.#gatekeeper.definitions.pause(name, this.#signed(meta));
  }

  resume(name: string, meta: ChangeMeta): Promise<DefinitionState> {
    return this.#gatekeeper.definitions.resume(name, this.#signed(meta));
  }

  reset(name: string, meta: ChangeMeta): Promise<DefinitionState> {
    return this.#gatekeeper.definitions.reset(name, this.#signed(meta));
  }

  remove(name: string, meta: ChangeMeta): Promise<boolean> {
    return this.#gatekeeper.definitions.remove(name, this.#signed(meta));
  }

  revoke(name: string, permitId: string, meta: ChangeMeta): Promise<boolean> {
    return this.#gatekeeper.definitions.revoke(name, permitId, this.#signed(meta));
  }

  planRun(semaphore: string): Promise<RunNowPlan> {
    return partsOf(this.#gatekeeper).runNow.plan(semaphore);
  }

  runNow(semaphore: string, job: string | undefined, meta: ChangeMeta): Promise<RunNowStatus> {
    const { reason, by } = this.#signed(meta);
    return partsOf(this.#gatekeeper).runNow.run(
      omitUndefined({ semaphore, job }),
      omitUndefined({ reason, by, timeout: 0 }),
    );
  }

  runRequest(semaphore: string, id: string, timeout: number): Promise<RunNowStatus> {
    return partsOf(this.#gatekeeper).runNow.follow(semaphore, id, { timeout });
  }

  pauseAll(call: BulkCall): Promise<BulkResult> {
    return this.#gatekeeper.definitions.pauseAll(this.#signed(call));
  }

  resumeAll(call: BulkCall): Promise<BulkResult> {
    return this.#gatekeeper.definitions.resumeAll(this.#signed(call));
  }

  resetAll(call: BulkCall): Promise<BulkResult> {
    return this.#gatekeeper.definitions.resetAll(this.#signed(call));
  }

  planMigration(request: MigrationRequest, { limit }: BulkCall): Promise<MigrationPlan> {
    return this.#gatekeeper.definitions.planMigration(request, { limit });
  }

  migrate(request: MigrationRequest, { reason, limit, bulk }: BulkCall): Promise<MigrationPlan> {
    return this.#gatekeeper.definitions.migrate(request, this.#signed({ reason, limit, bulk }));
  }

  planUndo(entry: string): Promise<UndoPlan> {
    return this.#gatekeeper.definitions.planUndo(entry);
  }

  undo(entry: string, call: Omit<BulkCall, 'names'>): Promise<UndoPlan> {
    return this.#gatekeeper.definitions.undo(entry, this.#signed(call));
  }

  maintenance(): Promise<MaintenanceWindow[]> {
    return this.#gatekeeper.definitions.maintenance.list();
  }

  maintenanceWindow(window: string): Promise<MaintenanceWindow> {
    return this.#gatekeeper.definitions.maintenance.get(window);
  }

  startMaintenance(window: string, names: readonly string[], call: WindowCall): Promise<MaintenanceStart> {
    return this.#gatekeeper.definitions.maintenance.start(this.#signed({ window, names, ...call }));
  }

  endMaintenance(window: string, call: WindowCall): Promise<MaintenanceEnd> {
    return this.#gatekeeper.definitions.maintenance.end(window, this.#signed(call));
  }

  async nodes(): Promise<{ now: number; nodes: NodeOverview[] }> {
    const { now, nodes, semaphores } = await this.look();
    return { now, nodes: await inSlices(withHeldPermits(nodes, semaphores), systemClock) };
  }

  leaders(): Promise<LeadersOverview> {
    return readLeaders(partsOf(this.#gatekeeper));
  }

  stepDown(scope: string, meta: ChangeMeta): Promise<boolean> {
    return partsOf(this.#gatekeeper).handovers.stepDown(scope, this.#signed(meta));
  }

  transfer(scope: string, instance: string, meta: ChangeMeta): Promise<boolean> {
    return partsOf(this.#gatekeeper).handovers.transfer(scope, instance, this.#signed(meta));
  }

  testAlerts(): never {
    throw new CommandFailure(EXIT.usage, NO_RECEIVERS);
  }

  allocationGroups(): never {
    throw new CommandFailure(EXIT.usage, NO_ALLOCATION);
  }

  allocationGroup(): never {
    throw new CommandFailure(EXIT.usage, NO_ALLOCATION);
  }

  allocationMoves(): never {
    throw new CommandFailure(EXIT.usage, NO_ALLOCATION);
  }

  planAllocation(): never {
    throw new CommandFailure(EXIT.usage, NO_ALLOCATION);
  }

  orderAllocation(): never {
    throw new CommandFailure(EXIT.usage, NO_ALLOCATION);
  }

  history(query: RunsQuery): Promise<HistoryEntry[]> {
    return this.#gatekeeper.runs.find(query);
  }

  async jobs(): Promise<JobSummary[]> {
    return (await this.#gatekeeper.runs.jobs()).map(summaryOf);
  }

  audit(query: JournalQuery): Promise<AuditEntry[]> {
    return newestFirst(query, (limit) => this.#gatekeeper.audit.read(limit));
  }

  async hints(onHint: () => void, signal: AbortSignal): Promise<void> {
    const end = await this.#store.watch(onHint);
    onHint();
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve();
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    await end();
  }

  /** Also writes the audit entries that are not written yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#gatekeeper.close();
  }

  #signed<T extends object>(meta: T): T & { by: string } {
    return { ...(omitUndefined(meta) as T), by: this.#by };
  }
}
