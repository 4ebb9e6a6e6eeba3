import type { NodeOverview } from '../../../gatekeeper/index.js';

/** Answers of the API, as the page reads them. Types only: nothing of a node's code gets into the page. */
export type {
  AuditEntry,
  DefinitionState,
  Explanation,
  Health,
  HistoryEntry,
  HolderState,
  MigrationPlan,
  MigrationStep,
  NodeIdentity,
  NodeOverview,
  RunEntry,
  SemaphoreOverview,
  StalePart,
  BulkResult,
} from '../../../gatekeeper/index.js';
export type { DefinitionChange, Pause, SemaphoreDefinition } from '../../../decision/index.js';
export type {
  AuditAnswer,
  NodesAnswer,
  Preview,
  Role,
  SemaphoreAnswer,
  SemaphoresAnswer,
  SessionAnswer,
} from '../../api/index.js';

/** When a job runs by itself. */
export type JobSchedule = NonNullable<NodeOverview['jobs'][number]['schedule']>;
