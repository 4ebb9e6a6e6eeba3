/**
 * Metadata of the decorators of @nestjs/schedule. The keys are repeated here, so that the package is not loaded in
 * applications without it.
 */
const TYPE = 'SCHEDULER_TYPE';
const NAME = 'SCHEDULER_NAME';
const CRON_OPTIONS = 'SCHEDULE_CRON_OPTIONS';
const INTERVAL_OPTIONS = 'SCHEDULE_INTERVAL_OPTIONS';
const TIMEOUT_OPTIONS = 'SCHEDULE_TIMEOUT_OPTIONS';

const KINDS = { 1: 'cron', 2: 'timeout', 3: 'interval' } as const;

/** Schedule of a method for @nestjs/schedule, as written in its decorator. */
export interface ScheduleMetadata {
  readonly kind: 'cron' | 'interval' | 'timeout';
  /** "0 3 * * *", or the moment of a cron that comes once; ms of intervals and timeouts. */
  readonly expression: string;
  /** Name under which it is registered, if it has one. */
  readonly name?: string;
  /** Of a cron. */
  readonly timeZone?: string;
}

interface CronOptions {
  readonly cronTime: unknown;
  readonly timeZone?: string;
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
    const { cronTime, timeZone } = Reflect.getMetadata(CRON_OPTIONS, method) as CronOptions;
    return { expression: textOf(cronTime), ...(timeZone !== undefined && { timeZone }) };
  }
  const key = kind === 'interval' ? INTERVAL_OPTIONS : TIMEOUT_OPTIONS;
  return { expression: String((Reflect.getMetadata(key, method) as { timeout: number }).timeout) };
}

/** Dates as ISO text; luxon's moments give that by themselves. */
function textOf(cronTime: unknown): string {
  return cronTime instanceof Date ? cronTime.toISOString() : String(cronTime);
}
