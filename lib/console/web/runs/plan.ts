import { Cron } from 'croner';
import type { JobSchedule, SemaphoreOverview } from '../api/answers.js';
import { scheduleText } from '../parts/schedule-text.js';

const MINUTE = 60_000;
/** ms that the plan looks ahead. */
export const AHEAD = 24 * 60 * MINUTE;
/** A job that is due more often is drawn as one bar: so many marks would touch each other. */
const OFTEN = 15 * MINUTE;
const MOST_TIMES = AHEAD / OFTEN;

/** When a job is due in the time ahead. Times are ms since the epoch. */
export interface PlannedJob {
  readonly semaphore: SemaphoreOverview;
  readonly job: string;
  /** The schedule as text. */
  readonly schedule: string;
  /** The first time; also of a job that is due often. */
  readonly next: number;
  /** All times; empty for a job that is due often. */
  readonly times: readonly number[];
}

/** The scheduled jobs that are due in the time ahead, the soonest first. A job that no living node has is not known. */
export function plannedJobs(semaphores: readonly SemaphoreOverview[], now: number): PlannedJob[] {
  const planned = semaphores.flatMap((semaphore) =>
    semaphore.jobs.flatMap(({ job, schedule }) => {
      const due = schedule && dueTimes(schedule, now);
      return due ? [{ semaphore, job, schedule: scheduleText(schedule), ...due }] : [];
    }),
  );
  return planned.toSorted((one, other) => one.next - other.next);
}

/** Undefined if the job is not due in the time ahead. */
function dueTimes(schedule: JobSchedule, now: number): Pick<PlannedJob, 'next' | 'times'> | undefined {
  const next = nextAfter(schedule, now);
  if (next === undefined || next > now + AHEAD) return undefined;
  const { interval } = schedule;
  if (interval === undefined) return { next, times: [next] };
  return { next, times: interval < OFTEN ? [] : [next, ...later(schedule, next, interval, now + AHEAD)] };
}

/** The node's own next time, or one after it: the node published it with its last heartbeat. */
function nextAfter(schedule: JobSchedule, now: number): number | undefined {
  const { next, interval } = schedule;
  if (next === undefined || next >= now || interval === undefined)
    return next !== undefined && next >= now ? next : undefined;
  return expand(schedule, now)[0] ?? next + Math.ceil((now - next) / interval) * interval;
}

/** An interval of a cron expression holds only for its next run: the one after may be days away. */
function later(schedule: JobSchedule, next: number, interval: number, until: number): number[] {
  const times =
    schedule.kind === 'cron'
      ? expand(schedule, next)
      : Array.from({ length: MOST_TIMES }, (_, index) => next + (index + 1) * interval);
  return times.filter((at) => at > next && at <= until);
}

/** Times of a cron expression. Empty if this page can't read it, though the node's own scheduler could. */
function expand({ kind, expression, timeZone }: JobSchedule, from: number): number[] {
  if (kind !== 'cron' || timeZone === undefined) return [];
  try {
    const times = new Cron(expression, { timezone: timeZone, paused: true }).nextRuns(MOST_TIMES, new Date(from));
    return times.map((at) => at.getTime());
  } catch {
    // The plan then has the time that the node published.
    return [];
  }
}
