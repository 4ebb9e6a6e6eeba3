export type { GroupAnswer, GroupsAnswer, MovesAnswer, PlanAnswer } from './allocation.js';
export * from './answers.js';
export * from './caller.js';
export * from './entities.js';
export * from './health.js';
export type { JobAnswer, JobsAnswer } from './runs.js';
export type { LeaderAnswer } from './leaders.js';
export type { OpenWindowAnswer, WindowAnswer } from './maintenance.js';
export * from './problem-codes.js';
export * from './problems.js';
export * from './roles.js';
export * from './operation.js';
export * from './routes.js';
export type { TaskAnswer, TasksAnswer } from './task-answers.js';
export type {
  FoundGroupsAnswer,
  SchedulesAnswer,
  SubTasksAnswer,
  SwitchedAnswer,
  TaskGroupAnswer,
} from './task-group-answers.js';
export type { NodeWork, TaskTypesAnswer } from './task-overview.js';
