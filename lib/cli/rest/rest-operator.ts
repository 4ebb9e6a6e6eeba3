import type {
  AuditEntry,
  BulkResult,
  DefinitionEdit,
  DefinitionState,
  Explanation,
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
  NodeOverview,
  RunNowPlan,
  RunNowStatus,
  RunsQuery,
  UndoPlan,
} from '../../gatekeeper/index.js';
import type { SemaphoreDefinitionInput } from '../../core/decision/index.js';
import { eventsIn } from '../../stores/remote/event-stream.js';
import type { AllocationPlan, GroupSummary, MovesQuery, PastMoves } from '../../allocation/index.js';
import type { Group } from '../views/allocation.view.js';
import type {
  AlertsTest,
  AllocationOrder,
  BulkCall,
  ChangeMeta,
  Look,
  Operator,
  Overview,
  PlanRequest,
  TaskOperator,
  WindowCall,
} from '../operator/operator.js';
import { RestClient, type RestOptions } from './rest-client.js';

/** Maximum number of resources in an answer. */
const MOST_RESOURCES = 10_000;
/** Longest time in ms that a console waits for the end of a run. */
const LONGEST_WAIT = 30_000;
/** Factor for the timeout of a change of many definitions. */
const BULK_PATIENCE = 10;

/** Operates over the console's HTTP API. The token names the author of changes. */
export class RestOperator implements Operator {
  readonly tasks: TaskOperator;
  readonly #client: RestClient;
  /** ms */
  readonly #timeout: number;

  constructor(options: RestOptions) {
    this.#timeout = options.timeout;
    this.#client = new RestClient(options);
    this.tasks = restTasks(this.#client);
  }

  get target(): string {
    return this.#client.target;
  }

  health(): Promise<Health> {
    return this.#client.ask(['health'], { otherStatus: 503 });
  }

  testAlerts(): Promise<AlertsTest> {
    return this.#client.ask(['alerts', 'test'], { method: 'POST', body: {} });
  }

  async look(): Promise<Look> {
    const [answer, health] = await Promise.all([this.#client.ask<Omit<Look, 'health'>>(['semaphores']), this.health()]);
    return { ...answer, health };
  }

  overview(): Promise<Overview> {
    return this.#client.ask(['semaphores']);
  }

  explain(name: string): Promise<Explanation> {
    return this.#client.ask(['explain', name]);
  }

  holding(name: string): Promise<Explanation> {
    return this.explain(name);
  }

  define(input: SemaphoreDefinitionInput, { reason }: ChangeMeta): Promise<DefinitionState> {
    return this.#client.ask(['semaphores'], { method: 'POST', body: { ...input, reason } });
  }

  edit(name: string, changes: DefinitionEdit, meta: ChangeMeta): Promise<DefinitionState> {
    return this.#client.ask(['semaphores', name], { method: 'PATCH', body: { ...changes, ...meta } });
  }

  pause(name: string, meta: ChangeMeta): Promise<DefinitionState> {
    return this.#change(name, 'pause', meta);
  }

  resume(name: string, meta: ChangeMeta): Promise<DefinitionState> {
    return this.#change(name, 'resume', meta);
  }

  reset(name: string, meta: ChangeMeta): Promise<DefinitionState> {
    return this.#change(name, 'reset', meta);
  }

  async remove(name: string, { reason }: ChangeMeta): Promise<boolean> {
    const request = { method: 'DELETE' as const, body: { reason } };
    return (await this.#client.ask<{ removed: boolean }>(['semaphores', name], request)).removed;
  }

  async revoke(name: string, permitId: string, { reason }: ChangeMeta): Promise<boolean> {
    return (await this.#change<{ revoked: boolean }>(name, 'revoke', { permitId, reason })).revoked;
  }

  planRun(name: string): Promise<RunNowPlan> {
    return this.#client.ask(['semaphores', name, 'run']);
  }

  runNow(name: string, job: string | undefined, { reason }: ChangeMeta): Promise<RunNowStatus> {
    return this.#change(name, 'run', { job, reason });
  }

  runRequest(name: string, id: string, wait: number): Promise<RunNowStatus> {
    // The answer must come before the request's own timeout.
    const most = Math.floor(Math.min(wait, LONGEST_WAIT, this.#timeout / 2));
    return this.#client.ask(['semaphores', name, 'run', id], { query: { wait: most } });
  }

  pauseAll(call: BulkCall): Promise<BulkResult> {
    return this.#bulk('pause', call);
  }

  resumeAll(call: BulkCall): Promise<BulkResult> {
    return this.#bulk('resume', call);
  }

  resetAll(call: BulkCall): Promise<BulkResult> {
    return this.#bulk('reset', call);
  }

  planMigration(request: MigrationRequest, call: BulkCall): Promise<MigrationPlan> {
    return this.#migrate(request, call, true);
  }

  migrate(request: MigrationRequest, call: BulkCall): Promise<MigrationPlan> {
    return this.#migrate(request, call, false);
  }

  planUndo(entry: string): Promise<UndoPlan> {
    return this.#bulk('undo', { entry, dryRun: true });
  }

  undo(entry: string, call: Omit<BulkCall, 'names'>): Promise<UndoPlan> {
    return this.#bulk('undo', { entry, dryRun: false, ...call });
  }

  async maintenance(): Promise<MaintenanceWindow[]> {
    return (await this.#client.ask<{ windows: MaintenanceWindow[] }>(['maintenance'])).windows;
  }

  maintenanceWindow(window: string): Promise<MaintenanceWindow> {
    return this.#client.ask(['maintenance', window]);
  }

  startMaintenance(window: string, names: readonly string[], call: WindowCall): Promise<MaintenanceStart> {
    return this.#bulk('maintenance', { window, names, ...call });
  }

  endMaintenance(window: string, call: WindowCall): Promise<MaintenanceEnd> {
    const request = { method: 'POST' as const, body: call, patience: BULK_PATIENCE };
    return this.#client.ask(['maintenance', window, 'end'], request);
  }

  nodes(): Promise<{ now: number; nodes: NodeOverview[] }> {
    return this.#client.ask(['nodes']);
  }

  leaders(): Promise<LeadersOverview> {
    return this.#client.ask(['leaders']);
  }

  stepDown(scope: string, { reason }: ChangeMeta): Promise<boolean> {
    return this.#hand(scope, 'step-down', { reason });
  }

  transfer(scope: string, node: string, { reason }: ChangeMeta): Promise<boolean> {
    return this.#hand(scope, 'transfer', { node, reason });
  }

  allocationGroups(): Promise<{ now: number; groups: GroupSummary[] }> {
    return this.#client.ask(['allocation', 'groups']);
  }

  allocationGroup(name: string): Promise<Group> {
    return this.#client.ask(['allocation', 'groups', name], { query: { limit: MOST_RESOURCES } });
  }

  allocationMoves(group: string, query: MovesQuery): Promise<PastMoves> {
    return this.#client.ask(['allocation', 'groups', group, 'moves'], { query: { ...query } });
  }

  planAllocation(group: string, request: PlanRequest): Promise<AllocationPlan> {
    return this.#client.ask(['allocation', 'groups', group, 'plan'], { method: 'POST', body: request });
  }

  async orderAllocation({ group, action, ...order }: AllocationOrder, { reason }: ChangeMeta): Promise<boolean> {
    const path = ['allocation', 'groups', group, action];
    return (await this.#client.ask<{ done: boolean }>(path, { method: 'POST', body: { ...order, reason } })).done;
  }

  async history({ since, until, ...rest }: RunsQuery): Promise<HistoryEntry[]> {
    const query = { ...rest, since: timeOf(since), until: timeOf(until) };
    return (await this.#client.ask<{ entries: HistoryEntry[] }>(['history'], { query })).entries;
  }

  async jobs(): Promise<JobSummary[]> {
    return (await this.#client.ask<{ jobs: JobSummary[] }>(['jobs'])).jobs;
  }

  async audit(query: JournalQuery): Promise<AuditEntry[]> {
    return (await this.#client.ask<{ entries: AuditEntry[] }>(['audit'], { query: { ...query } })).entries;
  }

  async hints(onHint: () => void, signal: AbortSignal): Promise<void> {
    const stream = await this.#client.stream(['events'], signal);
    onHint();
    for await (const _event of eventsIn(stream)) onHint();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#client.close();
  }

  #change<T = DefinitionState>(name: string, verb: string, body: object): Promise<T> {
    return this.#client.ask(['semaphores', name, verb], { method: 'POST', body });
  }

  async #hand(scope: string, verb: string, body: object): Promise<boolean> {
    const path = ['leaders', scope, verb];
    return (await this.#client.ask<{ asked: boolean }>(path, { method: 'POST', body })).asked;
  }

  #migrate(
    { names, group, to }: MigrationRequest,
    { reason, limit, bulk }: BulkCall,
    dryRun: boolean,
  ): Promise<MigrationPlan> {
    return this.#bulk('migrations', { names, group, to, dryRun, limit, bulk, reason });
  }

  #bulk<T>(path: string, body: object): Promise<T> {
    return this.#client.ask([path], { method: 'POST', body, patience: BULK_PATIENCE });
  }
}

/** A time before now is sent as a duration, so that the console's clock counts. */
function timeOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : time < 0 ? `${-time}ms` : String(time);
}

/** Tasks over the console's HTTP API. */
function restTasks(client: RestClient): TaskOperator {
  return {
    types: () => client.ask(['task-types']),
    list: (query, from) => client.ask(['tasks'], { query: { ...query, from } }),
    find: (id) => client.ask(['tasks', id]),
    submit: (body) => client.ask(['tasks'], { method: 'POST', body }),
    cancel: (id, { reason }) => client.ask(['tasks', id, 'cancel'], { method: 'POST', body: { reason } }),
    cancelGroup: (id, { reason }) => client.ask(['task-groups', id, 'cancel'], { method: 'POST', body: { reason } }),
    release: (id, { reason }) => client.ask(['tasks', id, 'release'], { method: 'POST', body: { reason } }),
    retry: (id, { reason }) => client.ask(['tasks', id, 'retry'], { method: 'POST', body: { reason } }),
  };
}
