import type { JobSchedule } from '../gatekeeper/index.js';
import { CronFields } from '../core/cron/cron-fields.js';
import { Ticks } from '../core/cron/ticks.js';
import { Zone } from '../core/cron/zone.js';
import { type CronJob, type JobCronTime, type Moment, isActive } from './scheduler.js';

/** Number of past times that are recorded. */
const RECENT = 3;
/** Maximum number of ticks between two calls that are computed one by one. */
const MOST_STEPS = 100;
/** ms */
const MINUTE = 60_000;
/** ms: how far back ticks are looked for when the job is first seen. */
const LONGEST_LOOK_BACK = 70 * 86_400_000;

type Times = Pick<JobSchedule, 'next' | 'interval' | 'recent'>;

/**
 * Next and past times of a cron job. The first call also finds times from before the start of the process, because a
 * restart must not hide a missed run. They can't be computed from the interval: a job may be due only on weekdays.
 *
 * It searches itself: the package `cron` takes 1 ms of CPU for one step, and each heartbeat looks at all jobs.
 */
export class CronTimes {
  #cronTime?: JobCronTime;
  #ticks?: Ticks;
  #times?: Required<Times> | undefined;
  #isSeen = false;

  /**
   * Returns the times as of now; an empty object if the job is stopped.
   *
   * @param now ms by the node's wall clock
   */
  look(job: CronJob, now: number): Times {
    const { cronTime } = job;
    if (!isActive(job)) return this.#forget();
    if (cronTime.realDate) return once(cronTime.source as Moment, now);
    // Another object means that the application changed the schedule at run time.
    if (cronTime !== this.#cronTime) this.#forget();
    this.#cronTime = cronTime;
    this.#ticks ??= new Ticks(new CronFields(cronTime), new Zone(zoneOf(cronTime)));
    if (!this.#times) this.#times = this.#first(this.#ticks, now);
    else if (this.#times.next <= now) this.#times = passed(this.#times, this.#ticks, now);
    return this.#times;
  }

  #first(ticks: Ticks, now: number): Required<Times> {
    const times = timesFrom(ticks.next(now), [], ticks);
    const recent = this.#isSeen ? [] : timesBefore(times, ticks);
    this.#isSeen = true;
    return { ...times, recent };
  }

  #forget(): Times {
    this.#ticks = undefined;
    this.#times = undefined;
    return {};
  }
}

/** Advances to the first time in the future, and records the times before it. */
function passed({ next, recent }: Required<Times>, ticks: Ticks, now: number): Required<Times> {
  let [tick, ticked] = [next, recent];
  for (let steps = 0; tick <= now; steps++) {
    // Too many ticks since the last call, for example of a job that is due each second.
    if (steps === MOST_STEPS) {
      const times = timesFrom(ticks.next(now), [], ticks);
      return { ...times, recent: timesBefore(times, ticks) };
    }
    ticked = [...ticked, tick].slice(-RECENT);
    tick = ticks.next(tick);
  }
  return timesFrom(tick, ticked, ticks);
}

function timesFrom(next: number, recent: number[], ticks: Ticks): Required<Times> {
  return { next, interval: ticks.next(next) - next, recent };
}

/** The last ticks before the next one, oldest first. Looks back further until it finds enough of them. */
function timesBefore({ next, interval }: Required<Times>, ticks: Ticks): number[] {
  for (let span = (RECENT + 1) * interval; ; span *= 2) {
    const times = ticksBetween(next - Math.min(span, LONGEST_LOOK_BACK), next, ticks);
    if (times.length >= RECENT || span >= LONGEST_LOOK_BACK) return times.slice(-RECENT);
  }
}

/** Stops after so many ticks that the last ones may be missing: then none is known. */
function ticksBetween(from: number, to: number, ticks: Ticks): number[] {
  const times: number[] = [];
  for (let tick = ticks.next(from); tick < to; tick = ticks.next(tick)) {
    if (times.length === MOST_STEPS) return [];
    times.push(tick);
  }
  return times;
}

/** The zone of a cron job. The package `cron` also accepts names of luxon: "local", or an offset such as "UTC+5:30". */
function zoneOf({ timeZone = 'local', utcOffset }: JobCronTime): string | number {
  if (utcOffset !== undefined) return utcOffset * MINUTE;
  if (/^(default|local|system)$/i.test(timeZone)) return Intl.DateTimeFormat().resolvedOptions().timeZone;
  const [, sign, hours, minutes = 0] = /^utc([+-])(\d{1,2})(?::(\d{2}))?$/i.exec(timeZone) ?? [];
  if (!sign) return timeZone;
  return (Number(hours) * 60 + Number(minutes)) * (sign === '-' ? -MINUTE : MINUTE);
}

function once(date: Moment, now: number): Times {
  return date.toMillis() > now ? { next: date.toMillis() } : {};
}
