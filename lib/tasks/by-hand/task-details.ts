import type { TaskExplanation } from './explanation.js';
import type { TaskReason, TaskView } from '../rules/views.js';

/** A task, and why it does not run, or where it runs. */
export interface TaskDetails {
  readonly task: TaskView;
  readonly explanation: TaskReason;
}

/** @returns the sentence if there is no task */
export function detailsOf(explained: TaskExplanation): TaskDetails | string {
  if (explained.reason === 'unknown' || explained.reason === 'skipped') return explained.sentence;
  const { task, reason, sentence } = explained;
  const until = 'until' in explained ? explained.until : undefined;
  const groupWaitsFor = 'groupWaitsFor' in explained ? explained.groupWaitsFor : undefined;
  return {
    task,
    explanation: { reason, sentence, ...(until !== undefined && { until }), ...(groupWaitsFor && { groupWaitsFor }) },
  };
}
