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

/** The same, or what was last known of it: `stale` and `health` say how old it is, and why. */
export interface Look extends Overview {
  readonly stale: readonly StalePart[];
  readonly health: Health;
}

/** On what meta something is changed; by whom is known to the operator. */
export interface ChangeMeta {
  readonly reason?: string | undefined;
  readonly expectedRevision?: number | undefined;
}

/** Which of many, on what meta, and how many at most in one call. */
export interface BulkCall {
  /** RE2; must match the whole name. Every name unless given. */
  readonly names?: string | undefined;
  readonly reason?: string | undefined;
  readonly limit?: number | undefined;
}

/**
 * All that commands ask for and change. Two implementations: over the console's HTTP API, and straight over the store.
 * A failure throws an error with the same `code` in both.
 */
export interface Operator extends AsyncDisposable {
  /** Where it looks, for people; holds no secret. */
  readonly target: string;
  /** Never rejects for a store that can't be asked. */
  health(): Promise<Health>;
  /** Also what was last known, for people. */
  look(): Promise<Look>;
  /** The present state. @throws CommandFailure when it can't be read: what was last known is no base for a change */
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
  /** Calls `onHint` when something changed, as far as that is heard of, until the signal aborts. Never relied on. */
  hints(onHint: () => void, signal: AbortSignal): Promise<void>;
}
