import type { JobSchedule } from '../gatekeeper/index.js';
import type { CronJob, Moment } from './cron-jobs.js';

/** How many of the last times are remembered. */
const RECENT = 3;
/** Times between two looks that are counted one by one. */
const MOST_STEPS = 100;

type Times = Pick<JobSchedule, 'next' | 'interval' | 'recent'>;

/**
 * When a cron job is next due, and when it was, as far back as it was looked up: what is due on weekdays only can't be
 * told from the distance of two dates.
 */
export class CronTimes {
  #cronTime?: CronJob['cronTime'];
  #next?: Moment;
  #recent: number[] = [];

  /** @param now by the node's wall clock, in ms */
  look(job: CronJob, now: number): Times {
    const { running, isActive = running, cronTime } = job;
    if (!isActive) return this.#forget();
    if (cronTime.realDate) return once(cronTime.source as Moment, now);
    // The application gave it another time while it runs.
    if (cronTime !== this.#cronTime) this.#forget();
    this.#cronTime = cronTime;
    this.#next = this.#passed(this.#next ?? job.nextDate(), job, now);
    const next = this.#next.toMillis();
    const interval = cronTime.getNextDateFrom(this.#next).toMillis() - next;
    return { next, interval, recent: [...this.#recent] };
  }

  /** The first that is not over, noting those that are. */
  #passed(first: Moment, job: CronJob, now: number): Moment {
    let next = first;
    for (let steps = 0; next.toMillis() <= now; steps++) {
      // A look once in a while at what is due each second.
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
