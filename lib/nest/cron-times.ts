import type { JobSchedule } from '../gatekeeper/index.js';
import type { CronJob, Moment } from './cron-jobs.js';

/** Number of past times that are recorded. */
const RECENT = 3;
/** Maximum number of ticks between two calls that are computed one by one. */
const MOST_STEPS = 100;
/** ms: how far back ticks are looked for when the job is first seen. */
const LONGEST_LOOK_BACK = 70 * 86_400_000;

type Times = Pick<JobSchedule, 'next' | 'interval' | 'recent'>;

/**
 * Next and past times of a cron job. The first call also finds times from before the start of the process, because a
 * restart must not hide a missed run. They can't be computed from the interval: a job may be due only on weekdays.
 */
export class CronTimes {
  #cronTime?: CronJob['cronTime'];
  #next?: Moment;
  #recent: number[] = [];
  #isSeen = false;

  /**
   * Returns the times as of now; an empty object if the job is stopped.
   *
   * @param now ms by the node's wall clock
   */
  look(job: CronJob, now: number): Times {
    const { running, isActive = running, cronTime } = job;
    if (!isActive) return this.#forget();
    if (cronTime.realDate) return once(cronTime.source as Moment, now);
    // Another object means that the application changed the schedule at run time.
    if (cronTime !== this.#cronTime) this.#forget();
    this.#cronTime = cronTime;
    if (!this.#isSeen) this.#recent = timesBefore(job);
    this.#isSeen = true;
    this.#next = this.#passed(this.#next ?? job.nextDate(), job, now);
    const next = this.#next.toMillis();
    const interval = cronTime.getNextDateFrom(this.#next).toMillis() - next;
    return { next, interval, recent: [...this.#recent] };
  }

  /** Advances to the first time in the future, and records the times before it. */
  #passed(first: Moment, job: CronJob, now: number): Moment {
    let next = first;
    for (let steps = 0; next.toMillis() <= now; steps++) {
      // Too many ticks since the last call, for example of a job that is due each second.
      if (steps === MOST_STEPS) return this.#jumped(job);
      this.#recent = [...this.#recent, next.toMillis()].slice(-RECENT);
      next = job.cronTime.getNextDateFrom(next);
    }
    return next;
  }

  #jumped(job: CronJob): Moment {
    const next = job.nextDate();
    const interval = job.cronTime.getNextDateFrom(next).toMillis() - next.toMillis();
    this.#recent = Array.from({ length: RECENT }, (_, index) => next.toMillis() - (RECENT - index) * interval);
    return next;
  }

  #forget(): Times {
    this.#next = undefined;
    this.#recent = [];
    return {};
  }
}

/** The last ticks before the next one, oldest first. Looks back further until it finds enough of them. */
function timesBefore(job: CronJob): number[] {
  const next = job.nextDate();
  const interval = job.cronTime.getNextDateFrom(next).toMillis() - next.toMillis();
  for (let span = (RECENT + 1) * interval; ; span *= 2) {
    const times = ticksBetween(next.minus(Math.min(span, LONGEST_LOOK_BACK)), next, job);
    if (times.length >= RECENT || span >= LONGEST_LOOK_BACK) return times.slice(-RECENT);
  }
}

/** Stops after so many ticks that the last ones may be missing: then none is known. */
function ticksBetween(from: Moment, to: Moment, { cronTime }: CronJob): number[] {
  const times: number[] = [];
  for (let tick = cronTime.getNextDateFrom(from); tick.toMillis() < to.toMillis();) {
    if (times.length === MOST_STEPS) return [];
    times.push(tick.toMillis());
    tick = cronTime.getNextDateFrom(tick);
  }
  return times;
}

function once(date: Moment, now: number): Times {
  return date.toMillis() > now ? { next: date.toMillis() } : {};
}
