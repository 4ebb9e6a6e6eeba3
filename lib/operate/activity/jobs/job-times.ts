import { type Context, timeOf } from '../../../core/context/context.js';
import type { JobInfo } from '../node-info.js';
import type { JobTimes } from './job-histories.js';
import type { JobRecord } from './job-record.js';

/**
 * The schedules of the jobs of this node.
 *
 * @returns undefined for a job for which this node has no schedule
 */
export function timesOf(infos: readonly JobInfo[], context: Context): (job: JobRecord) => JobTimes | undefined {
  const offset = timeOf(context) - context.nodeClock.wall();
  return ({ semaphore, job }) => {
    const info = infos.find((each) => each.job === job && (each.semaphore ?? semaphore) === semaphore);
    if (!info?.schedule) return undefined;
    const due = info.schedule.recent?.at(-1);
    return { schedule: info.schedule.expression, ...(due !== undefined && { due: Math.round(due + offset) }) };
  };
}
