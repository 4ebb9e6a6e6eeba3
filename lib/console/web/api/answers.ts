import type { NodeOverview } from '../../../gatekeeper/index.js';

/** Types of the API's answers. Only types, so that no code of a node becomes part of the page. */
export type {
  AuditEntry,
  Explanation,
  Health,
  HistoryEntry,
  HolderOverview,
  JobRuns,
  LeadersOverview,
  LeftAlone,
  MemberState,
  MigrationPlan,
  MigrationStep,
  NodeIdentity,
  NodeOverview,
  NodeTasks,
  RunEntry,
  RunNowStatus,
  RunnableNow,
  RunKind,
  ScopeCandidate,
  SemaphoreOverview,
  BulkResult,
  TermOverview,
  UndoPlan,
  UndoStep,
} from '../../../gatekeeper/index.js';
export type { DefinitionChange, Pause, SemaphoreDefinition } from '../../../core/decision/index.js';
export type { BodyOf } from '../../api/calls.js';
export type {
  AuditAnswer,
  FoundGroupsAnswer,
  GroupAnswer,
  GroupsAnswer,
  HistoryAnswer,
  JobAnswer,
  LeaderAnswer,
  MovesAnswer,
  NodeWork,
  PlanAnswer,
  Preview,
  Role,
  SemaphoreAnswer,
  SchedulesAnswer,
  SemaphorePartsAnswer,
  SessionAnswer,
  TaskAnswer,
  TaskGroupAnswer,
  TaskTypesAnswer,
  TasksAnswer,
  WindowAnswer,
} from '../../api/index.js';
export type { ListedState, TaskGroupOverview, TaskView } from '../../../tasks/index.js';

/** The schedule of a job. */
export type JobSchedule = NonNullable<NodeOverview['jobs'][number]['schedule']>;
