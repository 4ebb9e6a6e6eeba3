import type { z } from 'zod';
import type { Operation } from '../../console/api/operation.js';
// Not from the index of a folder, because that also loads Nest, which takes long.
import { OPERATIONS } from '../../console/api/routes.js';
import type { MovesQuery } from '../../allocation/index.js';
import type { SemaphoreDefinitionInput } from '../../core/decision/index.js';
import type { DefinitionEdit, JournalQuery, MigrationRequest, RunsQuery } from '../../gatekeeper/index.js';
import type {
  AllocationOrder,
  BulkCall,
  ChangeMeta,
  Look,
  Operator,
  PlanRequest,
  TaskOperator,
  WindowCall,
} from './operator.js';

/** Maximum number of resources in an answer. */
const MOST_RESOURCES = 10_000;
/** Longest time in ms that a node waits for the end of a run. */
const LONGEST_WAIT = 30_000;

/** The input of an operation, not yet checked. */
export interface Sent {
  /** Values of its path. */
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
}

/** Calls operations of the catalogue at one target. */
export interface Calls extends AsyncDisposable {
  /** Name of the target for people, without secrets. */
  readonly target: string;
  /** Maximum time in ms for a call. */
  readonly timeout: number;
  call<Answer extends z.ZodType>(
    operation: Operation<z.ZodObject, z.ZodObject, z.ZodType, Answer>,
    sent?: Sent,
  ): Promise<z.output<Answer>>;
  /** See {@link Operator.hints}. */
  hints(onHint: () => void, signal: AbortSignal): Promise<void>;
}

/** Calls the operations of the catalogue, over HTTP or in this process. Both give the same answers. */
export class CatalogueOperator implements Operator {
  readonly tasks: TaskOperator;

  constructor(private readonly calls: Calls) {
    this.tasks = taskOperator(calls);
  }

  get target(): string {
    return this.calls.target;
  }

  health() {
    return this.calls.call(OPERATIONS.health);
  }

  testAlerts() {
    return this.calls.call(OPERATIONS.testAlerts, { body: {} });
  }

  async look(): Promise<Look> {
    const [overview, health] = await Promise.all([this.overview(), this.health()]);
    return { ...overview, health };
  }

  overview() {
    return this.calls.call(OPERATIONS.semaphores);
  }

  explain(name: string) {
    return this.calls.call(OPERATIONS.explain, { params: { name } });
  }

  holding(name: string) {
    return this.explain(name);
  }

  define(input: SemaphoreDefinitionInput, { reason }: ChangeMeta) {
    return this.calls.call(OPERATIONS.define, { body: { ...input, reason } });
  }

  edit(name: string, changes: DefinitionEdit, meta: ChangeMeta) {
    return this.calls.call(OPERATIONS.edit, { params: { name }, body: { ...changes, ...meta } });
  }

  pause(name: string, meta: ChangeMeta) {
    return this.calls.call(OPERATIONS.pause, { params: { name }, body: meta });
  }

  resume(name: string, meta: ChangeMeta) {
    return this.calls.call(OPERATIONS.resume, { params: { name }, body: meta });
  }

  reset(name: string, meta: ChangeMeta) {
    return this.calls.call(OPERATIONS.reset, { params: { name }, body: meta });
  }

  async remove(name: string, { reason }: ChangeMeta) {
    return (await this.calls.call(OPERATIONS.remove, { params: { name }, body: { reason } })).removed;
  }

  async revoke(name: string, permitId: string, { reason }: ChangeMeta) {
    return (await this.calls.call(OPERATIONS.revoke, { params: { name }, body: { permitId, reason } })).revoked;
  }

  planRun(name: string) {
    return this.calls.call(OPERATIONS.runPlan, { params: { name } });
  }

  runNow(name: string, job: string | undefined, { reason }: ChangeMeta) {
    return this.calls.call(OPERATIONS.runNow, { params: { name }, body: { job, reason } });
  }

  runRequest(name: string, id: string, wait: number) {
    // The answer must come before the call's own timeout.
    const most = Math.floor(Math.min(wait, LONGEST_WAIT, this.calls.timeout / 2));
    return this.calls.call(OPERATIONS.runStatus, { params: { name, id }, query: { wait: most } });
  }

  pauseAll(body: BulkCall) {
    return this.calls.call(OPERATIONS.pauseAll, { body });
  }

  resumeAll(body: BulkCall) {
    return this.calls.call(OPERATIONS.resumeAll, { body });
  }

  resetAll(body: BulkCall) {
    return this.calls.call(OPERATIONS.resetAll, { body });
  }

  planMigration(request: MigrationRequest, call: BulkCall) {
    return this.#migrate(request, call, true);
  }

  migrate(request: MigrationRequest, call: BulkCall) {
    return this.#migrate(request, call, false);
  }

  planUndo(entry: string) {
    return this.calls.call(OPERATIONS.undo, { body: { entry, dryRun: true } });
  }

  undo(entry: string, call: Omit<BulkCall, 'names'>) {
    return this.calls.call(OPERATIONS.undo, { body: { entry, dryRun: false, ...call } });
  }

  async maintenance() {
    return (await this.calls.call(OPERATIONS.maintenance)).windows;
  }

  maintenanceWindow(window: string) {
    return this.calls.call(OPERATIONS.maintenanceWindow, { params: { window } });
  }

  startMaintenance(window: string, names: readonly string[], call: WindowCall) {
    return this.calls.call(OPERATIONS.startMaintenance, { body: { window, names, ...call } });
  }

  endMaintenance(window: string, body: WindowCall) {
    return this.calls.call(OPERATIONS.endMaintenance, { params: { window }, body });
  }

  nodes() {
    return this.calls.call(OPERATIONS.nodes);
  }

  leaders() {
    return this.calls.call(OPERATIONS.leaders);
  }

  async stepDown(scope: string, { reason }: ChangeMeta) {
    return (await this.calls.call(OPERATIONS.stepDown, { params: { scope }, body: { reason } })).asked;
  }

  async transfer(scope: string, node: string, { reason }: ChangeMeta) {
    return (await this.calls.call(OPERATIONS.transfer, { params: { scope }, body: { node, reason } })).asked;
  }

  allocationGroups() {
    return this.calls.call(OPERATIONS.groups);
  }

  allocationGroup(group: string) {
    return this.calls.call(OPERATIONS.group, { params: { group }, query: { limit: MOST_RESOURCES } });
  }

  allocationMoves(group: string, query: MovesQuery) {
    return this.calls.call(OPERATIONS.moves, { params: { group }, query: { ...query } });
  }

  planAllocation(group: string, body: PlanRequest) {
    return this.calls.call(OPERATIONS.planAllocation, { params: { group }, body });
  }

  async orderAllocation({ group, action, ...order }: AllocationOrder, { reason }: ChangeMeta) {
    const sent = { params: { group }, body: { ...order, reason } };
    return (await this.calls.call(ORDERS[action], sent)).done;
  }

  async history({ since, until, ...rest }: RunsQuery) {
    const query = { ...rest, since: timeOf(since), until: timeOf(until) };
    return (await this.calls.call(OPERATIONS.history, { query })).entries;
  }

  async jobs() {
    return (await this.calls.call(OPERATIONS.jobs)).jobs;
  }

  async audit(query: JournalQuery) {
    return (await this.calls.call(OPERATIONS.audit, { query: { ...query } })).entries;
  }

  hints(onHint: () => void, signal: AbortSignal): Promise<void> {
    return this.calls.hints(onHint, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.calls[Symbol.asyncDispose]();
  }

  #migrate({ names, group, to }: MigrationRequest, { reason, limit, bulk }: BulkCall, dryRun: boolean) {
    return this.calls.call(OPERATIONS.migrate, { body: { names, group, to, dryRun, limit, bulk, reason } });
  }
}

const ORDERS = {
  pin: OPERATIONS.pin,
  unpin: OPERATIONS.unpin,
  drain: OPERATIONS.drain,
  undrain: OPERATIONS.undrain,
  'confirm-resources': OPERATIONS.confirmResources,
};

/** A time before now is sent as a duration, so that the clock of the answering node counts. */
function timeOf(time: number | undefined): string | undefined {
  return time === undefined ? undefined : time < 0 ? `${-time}ms` : String(time);
}

function taskOperator(calls: Calls): TaskOperator {
  return {
    types: () => calls.call(OPERATIONS.taskTypes),
    list: (query, from) => calls.call(OPERATIONS.tasks, { query: { ...query, from } }),
    find: (id) => calls.call(OPERATIONS.task, { params: { id } }),
    submit: (body) => calls.call(OPERATIONS.submitTask, { body }),
    cancel: (id, { reason }) => calls.call(OPERATIONS.cancelTask, { params: { id }, body: { reason } }),
    cancelGroup: (id, { reason }) => calls.call(OPERATIONS.cancelTaskGroup, { params: { id }, body: { reason } }),
    release: (id, { reason }) => calls.call(OPERATIONS.releaseTask, { params: { id }, body: { reason } }),
    retry: (id, { reason }) => calls.call(OPERATIONS.retryTask, { params: { id }, body: { reason } }),
  };
}
