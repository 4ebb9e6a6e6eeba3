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
  NodeTasks,
  RunEntry,
  RunKind,
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
  FoundGroupsAnswer,
  GroupAnswer,
  GroupsAnswer,
  HistoryAnswer,
  JobAnswer,
  JobsAnswer,
  LeaderAnswer,
  MovesAnswer,
  NodeWork,
  NodesAnswer,
  PlanAnswer,
  Preview,
  Role,
  SemaphoreAnswer,
  SchedulesAnswer,
  SemaphoresAnswer,
  SessionAnswer,
  SubTasksAnswer,
  SwitchedAnswer,
  TaskAnswer,
  TaskGroupAnswer,
  TaskTypesAnswer,
  TasksAnswer,
} from '../../api/index.js';
export type { GroupOverview, ListedState, TaskView } from '../../../tasks/index.js';

/** The schedule of a job. */
export type JobSchedule = NonNullable<NodeOverview['jobs'][number]['schedule']>;
