/**
 * Metadata keys of the decorators of @nestjs/schedule. They are repeated here because an import would load the package,
 * which the application may not have.
 */
const TYPE = 'SCHEDULER_TYPE';
const NAME = 'SCHEDULER_NAME';
const CRON_OPTIONS = 'SCHEDULE_CRON_OPTIONS';
const INTERVAL_OPTIONS = 'SCHEDULE_INTERVAL_OPTIONS';
const TIMEOUT_OPTIONS = 'SCHEDULE_TIMEOUT_OPTIONS';

const KINDS = { 1: 'cron', 2: 'timeout', 3: 'interval' } as const;

/** The schedule of a method, as written in its decorator of @nestjs/schedule. */
export interface ScheduleMetadata {
  /** Which of the three decorators it has. */
  readonly kind: 'cron' | 'interval' | 'timeout';
  /** Of a cron job: "0 3 * * *", or ISO text if it runs once, at a date. Of intervals and timeouts: ms. */
  readonly expression: string;
  /** Name under which it is registered; absent if it has none. */
  readonly name?: string;
  /** Time zone of a cron job, as `@Cron` gives it. */
  readonly timeZone?: string;
  /** Of a cron job that has an offset instead of a time zone, as `@Cron` gives it. */
  readonly utcOffset?: number;
  /** Whether a cron job does not start by itself. */
  readonly isDisabled?: boolean;
}

interface CronOptions {
  readonly cronTime: unknown;
  readonly timeZone?: string;
  readonly utcOffset?: number;
  readonly disabled?: boolean;
}

/** Whether an expression is the time of a job that runs once. */
export function isDate(expression: string): boolean {
  return /^\d{4}-/.test(expression);
}

/** The time zone of a cron job: without one of its own, that of the process. */
export function zoneOf({ timeZone }: ScheduleMetadata): string {
  return timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** @returns undefined for a method without a schedule */
export function scheduleOf(method: object): ScheduleMetadata | undefined {
  const kind = KINDS[Reflect.getMetadata(TYPE, method) as keyof typeof KINDS];
  if (!kind) return undefined;
  const name = Reflect.getMetadata(NAME, method) as string | undefined;
  return { kind, ...expressionOf(kind, method), ...(name !== undefined && { name }) };
}

function expressionOf(kind: ScheduleMetadata['kind'], method: object) {
  if (kind === 'cron') {
    const { cronTime, timeZone, utcOffset, disabled } = Reflect.getMetadata(CRON_OPTIONS, method) as CronOptions;
    return {
      expression: textOf(cronTime),
      ...(timeZone !== undefined && { timeZone }),
      ...(utcOffset !== undefined && { utcOffset }),
      ...(disabled && { isDisabled: true }),
    };
  }
  const key = kind === 'interval' ? INTERVAL_OPTIONS : TIMEOUT_OPTIONS;
  return { expression: String((Reflect.getMetadata(key, method) as { timeout: number }).timeout) };
}

/** Converts a date to ISO text. luxon's DateTime converts itself. */
function textOf(cronTime: unknown): string {
  return cronTime instanceof Date ? cronTime.toISOString() : String(cronTime);
}
