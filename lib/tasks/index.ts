export { Tasks } from './tasks.js';
export { type TasksOptions, tasksSchema } from './tasks-options.js';
export { defineTask } from './define-task.js';
export { type SubmitArguments, SubmitManyError, type SubmitRequest } from './submit-many.js';
export {
  type DataOf,
  type MemberName,
  type ResultOf,
  type TaskDefinition,
  type TaskName,
  type TaskType,
  grouped,
  single,
  typeOf,
} from './task-id.js';
export type { SubmitOptions } from './submit-options.js';
export type { HandlerOptions } from './handler-options.js';
export type { Dedup } from './submission.js';
export type { Submitted } from './task-store.js';
export type { Ending, Outcome, Priority, Task, TaskFault, TaskLimits, TaskState } from './task.js';
export type {
  EndedMember,
  GroupContext,
  GroupFunction,
  InvalidTaskFunction,
  TaskContext,
  TaskFunction,
  TaskLease,
} from './workers/task-handler.js';
export { InvalidTaskError, LeaseExpiredError, RetryLaterError, TasksClosingError } from './tasks.errors.js';
