import type { NodeOverview } from '../../../gatekeeper/index.js';

/** Types of the API's answers. Only types, so that no code of a node becomes part of the page. */
export type {
  AuditEntry,
  DefinitionState,
  Explanation,
  Health,
  HistoryEntry,
  HolderState,
  LeadersOverview,
  MemberState,
  MigrationPlan,
  MigrationStep,
  NodeIdentity,
  NodeOverview,
  RunEntry,
  ScopeCandidate,
  ScopeOverview,
  SemaphoreOverview,
  StalePart,
  BulkResult,
  TermOverview,
} from '../../../gatekeeper/index.js';
export type { DefinitionChange, Pause, SemaphoreDefinition } from '../../../decision/index.js';
export type {
  AuditAnswer,
  GroupAnswer,
  GroupsAnswer,
  HistoryAnswer,
  LeaderAnswer,
  MovesAnswer,
  NodesAnswer,
  PlanAnswer,
  Preview,
  Role,
  SemaphoreAnswer,
  SemaphoresAnswer,
  SessionAnswer,
} from '../../api/index.js';

/** The schedule of a job. */
export type JobSchedule = NonNullable<NodeOverview['jobs'][number]['schedule']>;
