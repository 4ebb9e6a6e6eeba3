import type loadCron from '../../../load-cron.cjs';
import { ALL_PLAIN, type SpecialDays } from './special-days.js';

/** An expression as the package `cron` has read it. */
export type CronTime = InstanceType<NonNullable<ReturnType<typeof loadCron>>['CronTime']>;

/** ms */
const SECOND = 1000;
/** In seconds, as all of the search. */
const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Between two leap days are at most 8 years. */
const MOST_DAYS = 8 * 366;

/**
 * The fields of a cron expression, as the package `cron` has read them. Searches itself, because the package makes an
 * object for each step of its search: 300 schedules of one second blocked the event loop for 190 ms. Its rule for days:
 *
 * | day of month | day of week | a day is allowed if      |
 * | ------------ | ----------- | ------------------------ |
 * | all          | all         | always                   |
 * | some         | all         | its number is            |
 * | all          | some        | its day of the week is   |
 * | some         | some        | one of both is           |
 */
export class CronFields {
  readonly #seconds: readonly number[];
  readonly #minutes: readonly number[];
  readonly #hours: readonly number[];
  readonly #days: ReadonlySet<number>;
  readonly #months: ReadonlySet<number>;
  readonly #weekdays: ReadonlySet<number>;

  /** @param special the days that the package has not read; default: there are none */
  constructor(
    { second, minute, hour, dayOfMonth, month, dayOfWeek }: CronTime,
    private readonly special: SpecialDays = ALL_PLAIN,
  ) {
    [this.#seconds, this.#minutes, this.#hours] = [valuesOf(second), valuesOf(minute), valuesOf(hour)];
    this.#days = new Set(valuesOf(dayOfMonth));
    this.#months = new Set(valuesOf(month));
    this.#weekdays = new Set(valuesOf(dayOfWeek));
  }

  get isForEveryHour(): boolean {
    return this.#hours.length === DAY / HOUR;
  }

  /**
   * The first local time after another one. Both are written as the ms since 1970 that they would have in UTC.
   *
   * @throws Error if there is none in the next 8 years
   */
  next(after: number): number {
    const second = Math.floor(after / SECOND) + 1;
    const first = Math.floor(second / DAY);
    for (let day = first; day <= first + MOST_DAYS; day++) {
      const time = this.#isDay(day) ? this.#timeFrom(day === first ? second - first * DAY : 0) : undefined;
      if (time !== undefined) return (day * DAY + time) * SECOND;
    }
    throw new Error('it has no time in the next 8 years');
  }

  /** @param day since 1970 */
  #isDay(day: number): boolean {
    const date = new Date(day * DAY * SECOND);
    if (!this.#months.has(date.getUTCMonth() + 1)) return false;
    const { days, weekdays, hasPlain } = this.special;
    const [number, weekday] = [date.getUTCDate(), date.getUTCDay()];
    const last = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate();
    const found = { day: number, weekday, last };
    const isDay = (hasPlain.days && this.#days.has(number)) || days.some((rule) => rule(found));
    const isWeekday = (hasPlain.weekdays && this.#weekdays.has(weekday)) || weekdays.some((rule) => rule(found));
    const isSome = (days.length > 0 || this.#days.size < 31) && (weekdays.length > 0 || this.#weekdays.size < 7);
    return isSome ? isDay || isWeekday : isDay && isWeekday;
  }

  /** The first time of a day from there on, in seconds; undefined if there is none. */
  #timeFrom(begin: number): number | undefined {
    for (const hour of this.#hours) {
      for (const minute of this.#minutes) {
        const from = begin - hour * HOUR - minute * MINUTE;
        const second = from >= MINUTE ? undefined : this.#seconds.find((each) => each >= from);
        if (second !== undefined) return hour * HOUR + minute * MINUTE + second;
      }
    }
    return undefined;
  }
}

function valuesOf(field: object): number[] {
  return Object.keys(field)
    .map(Number)
    .toSorted((one, other) => one - other);
}
