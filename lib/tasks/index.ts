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
export { type TaskDetails, type TaskReason, detailsOf } from './by-hand/task-details.js';
export type { TaskExplanation } from './by-hand/explanation.js';
export {
  LISTED_STATES,
  type ListedState,
  type TaskPage,
  type TaskQuery,
  type WaitingType,
  type WaitingTypes,
} from './by-hand/task-list.js';
export {
  type FoundGroups,
  type TaskGroupOverview,
  type GroupPage,
  type GroupsQuery,
  TaskGroups,
  groupOfId,
} from './overview/task-groups.js';
export { type SubTaskEntry, type SubTaskPage, subTasksOf } from './overview/sub-task-list.js';
export { stateLinesOf } from './overview/node-work.js';
export { type SubmitArguments, SubmitManyError, type SubmitRequest, groupOf } from './records/submit-many.js';
export type { AwaitedName, Dedup, SubmitOptions, TaskTransaction, UniqueOptions } from './rules/submit-options.js';
export type { DistributeOptions } from './distribute.js';
export type { TaskTarget } from './rules/target.js';
export type { GroupHandlerOptions, HandlerOptions } from './rules/handler-options.js';
export type { MissedTicks, ScheduleMode, ScheduleOptions } from './rules/schedule-options.js';
export { type SkippedTick, expectNoSchedule } from './rules/schedule-record.js';
export type { ScheduleView } from './schedules/schedule-view.js';
export type { ScheduleContext, ScheduleFunction } from './task-schedules.js';
export type { Submitted } from './rules/submission.js';
export {
  type Cancellation,
  type GroupCounts,
  type Outcome,
  PRIORITIES,
  type Priority,
  type Task,
  type PastAttempt,
  type TaskFault,
  type TaskProgress,
} from './rules/task.js';
export type { ExternalClaim } from './external/external-claim.js';
export type { ExternalWorker, TypeDenial } from './admission/external-admission.js';
export type { ExternalAttempt, ExternalTasks } from './external/external-tasks.js';
export type { CancelOptions, Cancelled } from './records/cancel.js';
export type { GroupCancelled, Released, Retried } from './by-hand/changes.js';
export { type TaskView, type TaskViewState, viewOf, withoutSecrets } from './by-hand/task-view.js';
export type { TypeObstacle } from './admission/admission.js';
export type { HandledType, WorkerState } from './workers/type-worker.js';
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
