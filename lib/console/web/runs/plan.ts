import { Cron } from 'croner';
import type { JobSchedule, SchedulesAnswer, SemaphoreOverview } from '../api/answers.js';

const MINUTE = 60_000;
/** ms that the plan looks ahead. */
export const AHEAD = 24 * 60 * MINUTE;
/** A job that is due more often is drawn as one bar: so many marks would touch each other. */
const OFTEN = 15 * MINUTE;
const MOST_TIMES = AHEAD / OFTEN;

type TaskSchedule = SchedulesAnswer['schedules'][number];

/** When a job or a schedule of tasks is due in the time ahead. Times are ms since the epoch. */
export interface PlannedJob {
  /** Name of the semaphore, or of the schedule of tasks. */
  readonly name: string;
  /** Path of its page. */
  readonly path: readonly string[];
  /** Name of the job, or that it submits tasks. */
  readonly job: string;
  /** The semaphore that can keep it from running. Absent for a type of tasks without a limit. */
  readonly semaphore: SemaphoreOverview | undefined;
  readonly schedule: JobSchedule;
  /** The first time; also of a job that is due often. */
  readonly next: number;
  /** All times; empty for a job that is due often. */
  readonly times: readonly number[];
}

/**
 * The jobs and the schedules of tasks that are due in the time ahead, the soonest first. A job that no living node has is
 * not known.
 */
export function plannedJobs(
  semaphores: readonly SemaphoreOverview[],
  taskSchedules: readonly TaskSchedule[],
  now: number,
): PlannedJob[] {
  const byName = new Map(semaphores.map((semaphore) => [semaphore.name, semaphore]));
  const jobs = semaphores.flatMap((semaphore) =>
    semaphore.jobs.map(({ job, schedule }) => {
      const { name } = semaphore;
      return { name, path: ['work', name], job, semaphore, schedule };
    }),
  );
  const ofTasks = taskSchedules.map((each) => {
    const semaphore = byName.get(`task:${each.type}`);
    return {
      name: each.name,
      path: ['tasks', 'schedules'],
      job: 'schedule of tasks',
      semaphore,
      schedule: scheduleOf(each),
    };
  });
  const planned = [...jobs, ...ofTasks].flatMap(({ schedule, ...rest }) => {
    const due = schedule && dueTimes(schedule, now);
    return due ? [{ ...rest, schedule, ...due }] : [];
  });
  return planned.toSorted((one, other) => one.next - other.next);
}

/** Undefined if the answering node does not know the expression, or the next time. */
function scheduleOf({ expression, timeZone, next }: TaskSchedule): JobSchedule | undefined {
  if (expression === undefined || next === undefined) return undefined;
  const schedule = { kind: 'cron', expression, next, ...(timeZone !== undefined && { timeZone }) } as const;
  const [second] = expand(schedule, next, 1);
  return { ...schedule, ...(second !== undefined && { interval: second - next }) };
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
  return expand(schedule, now, 1)[0] ?? next + Math.ceil((now - next) / interval) * interval;
}

/** An interval of a cron expression holds only for its next run: the one after may be days away. */
function later(schedule: JobSchedule, next: number, interval: number, until: number): number[] {
  const times =
    schedule.kind === 'cron'
      ? expand(schedule, next, MOST_TIMES)
      : Array.from({ length: MOST_TIMES }, (_, index) => next + (index + 1) * interval);
  return times.filter((at) => at > next && at <= until);
}

/** Times of a cron expression. Empty if this page can't read it, though the node's own scheduler could. */
function expand({ kind, expression, timeZone }: JobSchedule, from: number, most: number): number[] {
  if (kind !== 'cron' || timeZone === undefined) return [];
  try {
    const times = new Cron(expression, { timezone: timeZone, paused: true }).nextRuns(most, new Date(from));
    return times.map((at) => at.getTime());
  } catch {
    // The plan then has the time that the node published.
    return [];
  }
}
