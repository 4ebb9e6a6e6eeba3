/*
 * The code that works on the tasks in the store: a chunk of its own, which `task-code.ts` loads with the first handler,
 * schedule or call. An application without tasks never loads it.
 */

export { AddressedTasks } from './workers/addressed-tasks.js';
export { cancelGroup, releaseTask, retryTask } from './by-hand/changes.js';
export { parseCancelOptions, cancelTask } from './records/cancel.js';
export { explain, skippedTick } from './by-hand/explanation.js';
export { listTasks, waitingTypes } from './by-hand/task-list.js';
export { viewOf } from './by-hand/task-view.js';
export { DueTimer } from './sweep/due-timer.js';
export { ExternalTasks } from './external/external-tasks.js';
export { subTasksOf } from './overview/sub-task-list.js';
export { TaskGroups } from './overview/task-groups.js';
export { ScheduleReconciler } from './schedules/schedule-reconciler.js';
export { ScheduleRecords } from './schedules/schedule-records.js';
export { ScheduleTimer } from './schedules/schedule-timer.js';
export { viewOf as scheduleViewOf, viewOfOthers } from './schedules/schedule-view.js';
export { SweepRanks } from './sweep/sweep-ranks.js';
export { TaskStore } from './records/task-store.js';
export { TaskSweep } from './sweep/task-sweep.js';
export { observedSubmit, submitUnique, submitWithin } from './records/submitting.js';
export { readGroup, contextOf } from './workers/handler-contexts.js';
export { TypeLimit } from './admission/type-limit.js';
export { TypeWorker } from './workers/type-worker.js';
