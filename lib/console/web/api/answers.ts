import type { NodeOverview } from '../../../gatekeeper/index.js';

/** Types of the API's answers. Only types, so that no code of a node becomes part of the page. */
export type {
  AuditEntry,
  DefinitionState,
  Explanation,
  Health,
  HistoryEntry,
  HolderOverview,
  JobRuns,
  LeadersOverview,
  LeftAlone,
  MaintenanceEnd,
  MaintenanceStart,
  MemberState,
  MigrationPlan,
  MigrationStep,
  NodeIdentity,
  NodeOverview,
  NodeTasks,
  RunEntry,
  RunNowPlan,
  RunNowStatus,
  RunnableNow,
  RunKind,
  ScopeCandidate,
  ScopeOverview,
  SemaphoreOverview,
  StalePart,
  BulkResult,
  TermOverview,
  UndoPlan,
  UndoStep,
} from '../../../gatekeeper/index.js';
export type { DefinitionChange, Pause, SemaphoreDefinition } from '../../../core/decision/index.js';
export type { AlertsTest } from '../../api/alerts.js';
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
  SemaphorePartsAnswer,
  SessionAnswer,
  SubTasksAnswer,
  SwitchedAnswer,
  TaskAnswer,
  TaskGroupAnswer,
  TaskTypesAnswer,
  TasksAnswer,
  OpenWindowAnswer,
  WindowAnswer,
} from '../../api/index.js';
export type { ListedState, TaskGroupOverview, TaskView } from '../../../tasks/index.js';

/** The schedule of a job. */
export type JobSchedule = NonNullable<NodeOverview['jobs'][number]['schedule']>;
