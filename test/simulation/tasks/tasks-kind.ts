import type { ScheduleKind } from '../kind/schedule-kind.js';
import { spreadText } from '../kind/spread-text.js';
import { TASK_FAULTS, type TaskFaultKind } from './tasks-scene.js';
import { type TasksScheduleResult, simulateTasks } from './tasks-schedule.js';

/** ms after the trouble; a task may wait for a lease, for the turn to sweep, and for a handler. */
const LATE = 30_000;

export const tasksKind: ScheduleKind<TasksScheduleResult> = {
  name: 'tasks',
  about: 'nodes submit tasks and groups, and work on them,',
  faults: TASK_FAULTS,
  simulate: (seed, options) => simulateTasks(seed, options as { readonly faults?: readonly TaskFaultKind[] }),
  summary(results) {
    const total = (of: 'claims' | 'ends' | 'joins' | 'subTasks' | 'ticks') =>
      results.reduce((sum, each) => sum + each[of], 0);
    return [
      `${total('claims')} claims, ${total('ends')} tasks ended, ${total('joins')} groups, ${total('subTasks')} sub-tasks, ${total('ticks')} ticks`,
      `all done after ms: ${spreadText(
        results.map(({ settledAfter }) => settledAfter),
        LATE,
      )}`,
    ];
  },
  end: ({ settledAfter }) => `all done ${settledAfter.toFixed(0)} ms after the trouble`,
};
