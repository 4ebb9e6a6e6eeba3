import type {
  AuditEntry,
  BulkResult,
  DefinitionEdit,
  DefinitionState,
  Explanation,
  Health,
  HistoryEntry,
  JournalQuery,
  MigrationPlan,
  MigrationRequest,
  NodeOverview,
  SemaphoreOverview,
  StalePart,
} from '../gatekeeper/index.js';
import type { SemaphoreDefinitionInput } from '../decision/index.js';

/** Holders of all semaphores, with warnings, at one moment. */
export interface Overview {
  /** Cluster time in ms. */
  readonly now: number;
  /** By name. */
  readonly semaphores: readonly SemaphoreOverview[];
}

/** An overview that may show the last known state: `stale` and `health` say how old it is, and why. */
export interface Look extends Overview {
  readonly stale: readonly StalePart[];
  readonly health: Health;
}

/** Reason and expected revision of a change. The operator knows the author. */
export interface ChangeMeta {
  readonly reason?: string | undefined;
  readonly expectedRevision?: number | undefined;
}

/** Names, reason and limit of a change of many. */
export interface BulkCall {
  /** RE2; must match the whole name. Every name unless given. */
  readonly names?: string | undefined;
  readonly reason?: string | undefined;
  readonly limit?: number | undefined;
}

/**
 * Everything that commands read and change. Two implementations: over the console's HTTP API, and directly on the store.
 * A failure throws an error with the same `code` in both.
 */
export interface Operator extends AsyncDisposable {
  /** Name of the target for people, without secrets. */
  readonly target: string;
  /** Never rejects because of an unreachable store. */
  health(): Promise<Health>;
  /** Reads the state for people; may be the last known one. */
  look(): Promise<Look>;
  /** Reads the present state. @throws CommandFailure when it can't be read: changes must not use an old state */
  overview(): Promise<Overview>;
  explain(name: string): Promise<Explanation>;
  define(input: SemaphoreDefinitionInput, meta: ChangeMeta): Promise<DefinitionState>;
  edit(name: string, changes: DefinitionEdit, meta: ChangeMeta): Promise<DefinitionState>;
  pause(name: string, meta: ChangeMeta): Promise<DefinitionState>;
  resume(name: string, meta: ChangeMeta): Promise<DefinitionState>;
  reset(name: string, meta: ChangeMeta): Promise<DefinitionState>;
  /** @returns false when there was none */
  remove(name: string, meta: ChangeMeta): Promise<boolean>;
  /** @returns false when it was not held any more */
  revoke(name: string, permitId: string, meta: ChangeMeta): Promise<boolean>;
  pauseAll(call: BulkCall): Promise<BulkResult>;
  resumeAll(call: BulkCall): Promise<BulkResult>;
  planMigration(request: MigrationRequest, call: BulkCall): Promise<MigrationPlan>;
  migrate(request: MigrationRequest, call: BulkCall): Promise<MigrationPlan>;
  nodes(): Promise<{ readonly now: number; readonly nodes: readonly NodeOverview[] }>;
  /** Newest first. */
  history(query: JournalQuery): Promise<readonly HistoryEntry[]>;
  /** Newest first. */
  audit(query: JournalQuery): Promise<readonly AuditEntry[]>;
  /** Calls `onHint` at each hint of a change until the signal aborts. Hints may be missing. */
  hints(onHint: () => void, signal: AbortSignal): Promise<void>;
}
