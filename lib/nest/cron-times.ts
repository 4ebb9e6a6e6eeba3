import type { JobSchedule } from '../gatekeeper/index.js';
import type { CronJob, Moment } from './cron-jobs.js';

/** Number of past times that are recorded. */
const RECENT = 3;
/** Maximum number of ticks between two calls that are computed one by one. */
const MOST_STEPS = 100;

type Times = Pick<JobSchedule, 'next' | 'interval' | 'recent'>;

/**
 * Next and past times of a cron job. Past times are recorded from the first call on. They can't be computed from the
 * interval, because a job may be due only on weekdays.
 */
export class CronTimes {
  #cronTime?: CronJob['cronTime'];
  #next?: Moment;
  #recent: number[] = [];

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

function once(date: Moment, now: number): Times {
  return date.toMillis() > now ? { next: date.toMillis() } : {};
}
