/** The part of the package `cron` that is used. */
interface Cron {
  readonly CronTime: new (expression: string, timeZone: string) => CronTime;
}

interface CronTime {
  /** The hours of the expression, as keys. */
  readonly hour: object;
  /** The next time after `start`, in whole seconds. */
  getNextDateFrom(start: Date, timeZone: string): { toMillis(): number };
}

/** Undefined if neither @nestjs/schedule nor cron is installed. */
declare function loadCron(): Cron | undefined;
export = loadCron;
