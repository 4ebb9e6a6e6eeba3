import { messageOf, show } from '../decision/index.js';
import loadCron from '../../../load-cron.cjs';
import { CronFields } from './cron-fields.js';
import { readSpecialDays } from './special-days.js';
import { Zone } from './zone.js';

/** ms */
const SECOND = 1000;

/**
 * The planned times of a cron expression in a time zone, as instants in ms since 1970.
 *
 * The package `cron` only reads the expression: in zones some of its versions give wrong times around a change of clocks
 * ("0 3 * * *" comes twice, at 2 and at 3). So the zone is applied here, by the rules of Debian's cron:
 *
 * | the expression    | clocks skip an hour                              | clocks repeat an hour            |
 * | ----------------- | ------------------------------------------------ | -------------------------------- |
 * | for every hour    | goes on by real time                             | goes on by real time: both hours |
 * | names hours       | a skipped tick comes right after the skip, once  | the first of the two hours only  |
 */
export class Ticks {
  constructor(
    private readonly fields: CronFields,
    private readonly zone: Zone,
  ) {}

  /** The first tick after an instant. @throws Error if there is none in the next 8 years */
  next(after: number): number {
    return this.fields.isForEveryHour ? this.#byRealTime(after) : this.#byLocalTime(after);
  }

  /** The last tick up to an instant. There must be one after `from`. */
  latest(from: number, until: number): number {
    let step = SECOND;
    while (until - step > from && this.next(until - step) > until) step *= 2;
    // A tick lies in (low, until], and none after `high` does.
    let [low, high] = [Math.max(from, until - step), until];
    while (high - low > SECOND) {
      const middle = Math.floor((low + high) / 2);
      if (this.next(middle) <= until) low = middle;
      else high = middle;
    }
    return this.next(low);
  }

  #byRealTime(after: number): number {
    const offset = this.zone.offset(after);
    const next = this.fields.next(after + offset) - offset;
    if (this.zone.offset(next) === offset) return next;
    const change = this.zone.changeBetween(after, next);
    const later = this.zone.offset(change);
    return this.fields.next(change + later - SECOND) - later;
  }

  #byLocalTime(after: number): number {
    const next = this.zone.instantOf(this.fields.next(after + this.zone.offset(after)));
    if (next > after) return next;
    // This is the second of two equal hours, whose local times have all come in the first one: goes on behind both.
    const change = this.zone.changeBetween(next, after);
    return this.zone.instantOf(this.fields.next(change + this.zone.offset(next) - SECOND));
  }
}

/** @returns the ticks, or what is wrong with the expression or the zone, in sentences */
export function readTicks(
  expression: unknown,
  timeZone: string,
): { readonly ticks: Ticks } | { readonly faults: string[] } {
  const cron = loadCron();
  if (!cron) {
    return { faults: ['expression: the package "cron" reads it, and is not installed: npm install @nestjs/schedule'] };
  }
  const [zone, fields] = [attempt(() => new Zone(timeZone)), attempt(() => parse(cron, expression))];
  const faults: string[] = [];
  if ('error' in fields) {
    const why = messageOf(fields.error);
    faults.push(
      `expression: ${show(expression)} is no cron expression (${why}): give 5 or 6 fields, such as "0 3 * * *"`,
    );
  }
  if ('error' in zone) {
    faults.push(`timeZone: ${show(timeZone)} is no time zone: give a name such as "Europe/Berlin"`);
  }
  if ('error' in zone || 'error' in fields) return { faults };
  return { ticks: new Ticks(fields.value, zone.value) };
}

function parse({ CronTime }: NonNullable<ReturnType<typeof loadCron>>, expression: unknown): CronFields {
  if (typeof expression !== 'string') throw new Error('it is not a text');
  const special = readSpecialDays(expression);
  const fields = new CronFields(new CronTime(special.plain, 'UTC'), special);
  // "0 0 30 2 *" can be read, and has no next time.
  fields.next(Date.now());
  return fields;
}

function attempt<T>(make: () => T): { readonly value: T } | { readonly error: unknown } {
  try {
    return { value: make() };
  } catch (error) {
    return { error };
  }
}
