/** The part of the package `cron` that is used. */
interface Cron {
  readonly CronTime: new (expression: string, timeZone: string) => CronTime;
}

interface CronTime {
  /** The values that each field of the expression allows, as keys. Months begin with 1, days of the week with 0: Sunday. */
  readonly second: object;
  readonly minute: object;
  readonly hour: object;
  readonly dayOfMonth: object;
  readonly month: object;
  readonly dayOfWeek: object;
}

/** Undefined if neither @nestjs/schedule nor cron is installed. */
declare function loadCron(): Cron | undefined;
export = loadCron;
