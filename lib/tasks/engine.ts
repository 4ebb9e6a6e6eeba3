/*
 * The code that works on the tasks in the store: a chunk of its own, which `task-code.ts` loads with the first handler,
 * schedule or call. An application without tasks never loads it.
 */

export { AddressedTasks } from './workers/addressed-tasks.js';
export { cancelGroup } from './by-hand/cancel-group.js';
export { parseCancelOptions } from './by-hand/cancel-options.js';
export { cancelTask } from './records/cancel.js';
export { explain, skippedTick } from './by-hand/explanation.js';
export { releaseTask } from './by-hand/release.js';
export { retryTask } from './by-hand/retry.js';
export { listTasks, waitingTypes } from './by-hand/task-list.js';
export { viewOf } from './by-hand/task-view.js';
export { DueTimer } from './sweep/due-timer.js';
export { ExternalTasks } from './external/external-tasks.js';
export { subTasksOf } from './overview/sub-task-list.js';
export { TaskGroups } from './overview/task-groups.js';
export { ScheduleLook } from './schedules/schedule-look.js';
export { ScheduleRecords } from './schedules/schedule-records.js';
export { ScheduleTimer } from './schedules/schedule-timer.js';
export { viewOf as scheduleViewOf, viewOfOthers } from './schedules/schedule-view.js';
export { observedSubmit } from './rules/submission.js';
export { SweepTurns } from './sweep/sweep-turns.js';
export { TaskStore } from './records/task-store.js';
export { TaskSweep } from './sweep/task-sweep.js';
export { submitUnique } from './records/submit-unique.js';
export { readGroup } from './workers/group-context.js';
export { contextOf } from './workers/task-context.js';
export { TypeLimit } from './workers/type-limit.js';
export { TypeWorker } from './workers/type-worker.js';
export { submitWithin } from './records/written-place.js';
