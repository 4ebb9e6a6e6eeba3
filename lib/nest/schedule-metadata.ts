/**
 * Metadata that the decorators of @nestjs/schedule put on a method. Their keys are written out here, so that nothing of that
 * package is loaded where it is not used.
 */
const TYPE = 'SCHEDULER_TYPE';
const NAME = 'SCHEDULER_NAME';
const CRON_OPTIONS = 'SCHEDULE_CRON_OPTIONS';
const INTERVAL_OPTIONS = 'SCHEDULE_INTERVAL_OPTIONS';
const TIMEOUT_OPTIONS = 'SCHEDULE_TIMEOUT_OPTIONS';

const KINDS = { 1: 'cron', 2: 'timeout', 3: 'interval' } as const;

/** When @nestjs/schedule runs a method, as it was written there. */
export interface ScheduleMetadata {
  readonly kind: 'cron' | 'interval' | 'timeout';
  /** "0 3 * * *", or the moment of a cron that comes once; ms of intervals and timeouts. */
  readonly expression: string;
  /** Under which it is registered, if it was given one. */
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
