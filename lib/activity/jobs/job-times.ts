import { type Context, timeOf } from '../../context/context.js';
import type { JobInfo } from '../node-info.js';
import type { JobTimes } from './job-histories.js';
import type { JobRecord } from './job-record.js';

/**
 * The schedule of a job on this node.
 *
 * @param infos the jobs of this node
 * @returns undefined if this node has no schedule for it
 */
export function timesOf(
  { semaphore, job }: JobRecord,
  infos: readonly JobInfo[],
  context: Context,
): JobTimes | undefined {
  const info = infos.find((each) => each.job === job && (each.semaphore ?? semaphore) === semaphore);
  if (!info?.schedule) return undefined;
  const offset = timeOf(context) - context.nodeClock.wall();
  const due = info.schedule.recent?.at(-1);
  return { schedule: info.schedule.expression, ...(due !== undefined && { due: Math.round(due + offset) }) };
}
