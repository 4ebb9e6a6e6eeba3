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
  SemaphoreOverview,
  StalePart,
  UndoPlan,
} from '../../gatekeeper/index.js';
import type { AllocationPlan, GroupSummary, MovesQuery, PastMoves } from '../../allocation/index.js';
import type { SemaphoreDefinitionInput } from '../../core/decision/index.js';
import type {
  Cancelled,
  GroupCancelled,
  HandledType,
  ListedState,
  Priority,
  Released,
  Retried,
  Submitted,
  TaskDetails,
  TaskPage,
  TaskTarget,
  UniqueOptions,
  WaitingType,
} from '../../tasks/index.js';
import type { AlertsTest } from '../../console/api/alerts.js';
import type { Group } from '../views/allocation.view.js';

/** All semaphores with their holders and warnings, at one moment. */
export interface Overview {
  /** Cluster time, ms since the epoch. */
  readonly now: number;
  /** Sorted by name. */
  readonly semaphores: readonly SemaphoreOverview[];
}

/** An overview that may show the last known state: `stale` and `health` say how old it is, and why. */
export interface Look extends Overview {
  readonly stale: readonly StalePart[];
  readonly health: Health;
}

/** Reason and expected revision of a change. The operator adds the author. */
export interface ChangeMeta {
  readonly reason?: string | undefined;
  readonly expectedRevision?: number | undefined;
}

/** Names, reason and limit of a change of many definitions. */
export interface BulkCall {
  /** RE2; must match the whole name. Default: all names. */
  readonly names?: string | undefined;
  readonly reason?: string | undefined;
  readonly limit?: number | undefined;
  /** `bulk` of the answer before, if this call continues a change. */
  readonly bulk?: string | undefined;
}

/** Reason and limit of a start or an end of a maintenance window. */
export type WindowCall = Omit<BulkCall, 'names' | 'bulk'>;

/** A change to try without making it. Nodes are named by their names. */
export interface PlanRequest {
  readonly drain?: readonly string[];
  readonly lose?: readonly string[];
  readonly join?: readonly { readonly node: string }[];
  readonly pin?: readonly { readonly resource: string; readonly node: string }[];
  readonly unpin?: readonly string[];
}

/** A change of who may own the resources of a group. */
export interface AllocationOrder {
  readonly group: string;
  readonly action: 'pin' | 'unpin' | 'drain' | 'undrain' | 'confirm-resources';
  readonly resource?: string | undefined;
  readonly node?: string | undefined;
  /** Number of the known resources that the confirmed set still has. */
  readonly left?: number | undefined;
}

/** A task to submit. */
export interface TaskSubmission {
  readonly id: string;
  readonly total?: number | undefined;
  readonly data?: unknown;
  readonly priority?: Priority | undefined;
  /** ms */
  readonly delay?: number | undefined;
  /** Ids of tasks and groups. */
  readonly after?: readonly string[] | undefined;
  readonly afterFailed?: 'cancel' | 'run' | undefined;
  readonly unique?: TaskUniqueness | undefined;
  readonly to?: TaskTarget | undefined;
  readonly fairKey?: string | undefined;
}

/** The rule for a task of the same key that has not ended. */
export type TaskUniqueness = Omit<UniqueOptions, 'key'> & { readonly key?: string };

/** Tasks that commands read and change. An unknown task is an error with the exit code `notFound`. */
export interface TaskOperator {
  types(): Promise<{
    readonly waiting: readonly WaitingType[];
    readonly isCut: boolean;
    readonly here: readonly HandledType[];
  }>;
  /** One page. @param from `next` of the page before */
  list(query: { readonly state: ListedState; readonly type?: string | undefined }, from?: string): Promise<TaskPage>;
  find(id: string): Promise<TaskDetails>;
  submit(task: TaskSubmission): Promise<Submitted>;
  cancel(id: string, meta: ChangeMeta): Promise<Cancelled>;
  /** @param id of the group: `type[group]` */
  cancelGroup(id: string, meta: ChangeMeta): Promise<GroupCancelled>;
  /** @throws an error with the exit code `conflict` if it can't run again */
  retry(id: string, meta: ChangeMeta): Promise<Retried>;
  release(id: string, meta: ChangeMeta): Promise<Released>;
}

/**
 * Everything that commands read and change: over the console's HTTP API, or directly on the store. Errors of the two may
 * differ in class, but lead to the same exit code. Commands get one through `assured()`: its
 * readings reject with the exit code `unreachable` if the present state is not known.
 */
export interface Operator extends AsyncDisposable {
  /** Name of the target for people, without secrets. */
  readonly target: string;
  /** Never rejects because of an unreachable store. */
  health(): Promise<Health>;
  /** Sends a test to the receivers of alerts of the answering node. Only over HTTP. */
  testAlerts(): Promise<AlertsTest>;
  /** Reads the state for people. Over HTTP it may be the last known one. */
  look(): Promise<Look>;
  /** Reads the present state, for changes, which must not use an old state. */
  overview(): Promise<Overview>;
  /** Explains a decision for people. During an outage, the explanation is the outage. */
  explain(name: string): Promise<Explanation>;
  /** Reads the present definition and holders, for changes. */
  holding(name: string): Promise<Pick<Explanation, 'definition' | 'holders'>>;
  define(input: SemaphoreDefinitionInput, meta: ChangeMeta): Promise<DefinitionState>;
  edit(name: string, changes: DefinitionEdit, meta: ChangeMeta): Promise<DefinitionState>;
  pause(name: string, meta: ChangeMeta): Promise<DefinitionState>;
  resume(name: string, meta: ChangeMeta): Promise<DefinitionState>;
  reset(name: string, meta: ChangeMeta): Promise<DefinitionState>;
  /** @returns false if there was no definition */
  remove(name: string, meta: ChangeMeta): Promise<boolean>;
  /** @returns false if the permit was no longer held */
  revoke(name: string, permitId: string, meta: ChangeMeta): Promise<boolean>;
  /** Reads which jobs of a semaphore could be run now, and on which nodes. */
  planRun(name: string): Promise<RunNowPlan>;
  /** Asks for a run of a job now. @throws an error with the exit code `conflict` if no living node may run it */
  runNow(name: string, job: string | undefined, meta: ChangeMeta): Promise<RunNowStatus>;
  /** Reads what became of a request for a run. Waits for its end, at most `wait` ms, or less. */
  runRequest(name: string, id: string, wait: number): Promise<RunNowStatus>;
  pauseAll(call: BulkCall): Promise<BulkResult>;
  resumeAll(call: BulkCall): Promise<BulkResult>;
  resetAll(call: BulkCall): Promise<BulkResult>;
  planMigration(request: MigrationRequest, call: BulkCall): Promise<MigrationPlan>;
  migrate(request: MigrationRequest, call: BulkCall): Promise<MigrationPlan>;
  /** @param entry id of an entry of the audit log, or of a change of many */
  planUndo(entry: string): Promise<UndoPlan>;
  undo(entry: string, call: Omit<BulkCall, 'names'>): Promise<UndoPlan>;
  /** The maintenance windows; of long lists of names, maybe only the beginning. */
  maintenance(): Promise<readonly MaintenanceWindow[]>;
  maintenanceWindow(window: string): Promise<MaintenanceWindow>;
  startMaintenance(window: string, names: readonly string[], call: WindowCall): Promise<MaintenanceStart>;
  endMaintenance(window: string, call: WindowCall): Promise<MaintenanceEnd>;
  /** Reads the present nodes. */
  nodes(): Promise<{ readonly now: number; readonly nodes: readonly NodeOverview[] }>;
  /** Reads the scopes of leadership and the membership. */
  leaders(): Promise<LeadersOverview>;
  /** Asks the leader of a scope to step down. @returns false if no node leads */
  stepDown(scope: string, meta: ChangeMeta): Promise<boolean>;
  /** Makes the node of an instance the next leader of a scope. @returns false if it leads already */
  transfer(scope: string, instance: string, meta: ChangeMeta): Promise<boolean>;
  /** Reads the allocation groups of the answering node. Only over HTTP, as the following calls. */
  allocationGroups(): Promise<{ readonly now: number; readonly groups: readonly GroupSummary[] }>;
  allocationGroup(name: string): Promise<Group>;
  allocationMoves(group: string, query: MovesQuery): Promise<PastMoves>;
  planAllocation(group: string, request: PlanRequest): Promise<AllocationPlan>;
  /** @returns whether it changed something */
  orderAllocation(order: AllocationOrder, meta: ChangeMeta): Promise<boolean>;
  /** Tasks; see {@link TaskOperator}. */
  readonly tasks: TaskOperator;
  /** Newest first. */
  history(query: RunsQuery): Promise<readonly HistoryEntry[]>;
  /** The past of each job, sorted by semaphore and job. */
  jobs(): Promise<readonly JobSummary[]>;
  /** Newest first. */
  audit(query: JournalQuery): Promise<readonly AuditEntry[]>;
  /**
   * Calls `onHint` at each hint of a change until the signal aborts or the target ends the hints. Hints may be missing. Also
   * calls it when the hints begin, because the changes before have left none.
   */
  hints(onHint: () => void, signal: AbortSignal): Promise<void>;
}
