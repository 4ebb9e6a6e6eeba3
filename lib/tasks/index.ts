export { Tasks } from './tasks.js';
export { LARGEST_DATA, type TasksOptions, tasksSchema } from './rules/tasks-options.js';
export {
  nameOfId,
  typeOfId,
  type DataOf,
  type GroupName,
  LARGEST_GROUP,
  LONGEST_TASK_ID,
  type MemberName,
  type ResultOf,
  type TaskDefinition,
  type TaskName,
  type TaskType,
  grouped,
  idFault,
  single,
  typeFaults,
  typeOf,
  wholeGroup,
} from './rules/task-id.js';
export { defineTask } from './rules/define-task.js';
export { type TaskDetails, detailsOf } from './by-hand/task-details.js';
export type { TaskExplanation } from './by-hand/explanation.js';
export {
  LISTED_STATES,
  type ListedState,
  type TaskPage,
  type TaskQuery,
  type WaitingTypes,
} from './by-hand/task-list.js';
export { type GroupsQuery, TaskGroups, groupOfId } from './overview/task-groups.js';
export { type SubTaskPage, subTasksOf } from './overview/sub-task-list.js';
export { stateLinesOf } from './overview/node-work.js';
export { type SubmitArguments, SubmitManyError, type SubmitRequest, groupOf } from './records/submit-many.js';
export type { AwaitedName, Dedup, SubmitOptions, TaskTransaction, UniqueOptions } from './rules/submit-options.js';
export type { DistributeOptions } from './distribute.js';
export type {
  TaskTarget,
  Cancellation,
  GroupCounts,
  PastAttempt,
  SkippedTick,
  TaskFault,
  TaskProgress,
} from './rules/task-parts.js';
export type { GroupHandlerOptions, HandlerOptions } from './rules/handler-options.js';
export type { MissedTicks, ScheduleMode, ScheduleOptions } from './rules/schedule-options.js';
export { expectNoSchedule } from './rules/schedule-record.js';
export type {
  FoundGroups,
  GroupPage,
  HandledType,
  ScheduleView,
  SubTaskEntry,
  TaskGroupOverview,
  TaskReason,
  TaskView,
  TaskViewState,
  TypeObstacle,
  WaitingType,
  WorkerState,
} from './rules/views.js';
export type { ScheduleContext, ScheduleFunction } from './task-schedules.js';
export type { Cancelled, GroupCancelled, Released, Retried, Submitted, TypeDenial } from './rules/answers.js';
export { type Outcome, PRIORITIES, type Priority, type Task } from './rules/task.js';
export type { ExternalClaim } from './external/external-claim.js';
export type { ExternalWorker } from './admission/external-admission.js';
export type { ExternalAttempt, ExternalTasks } from './external/external-tasks.js';
export type { CancelOptions } from './records/cancel.js';
export { viewOf, withoutSecrets } from './by-hand/task-view.js';
export {
  type EndedMember,
  type GroupContext,
  type GroupFunction,
  type InvalidTaskFunction,
  type MemberContext,
  type TaskContext,
  type TaskFunction,
  type TaskLease,
  preparedHandler,
} from './workers/task-handler.js';
export {
  InvalidTaskError,
  LeaseExpiredError,
  RetryLaterError,
  TaskCancelledError,
  TaskTimeoutError,
  TasksClosingError,
} from './rules/tasks.errors.js';
