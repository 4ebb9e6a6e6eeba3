import type { DiscoveryService } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { CronTime } from '../core/cron/cron-fields.js';

/* The part of @nestjs/schedule that is used here: metadata of its decorators, its registry and its jobs. */

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

/** The part of luxon's DateTime that is used here. */
export interface Moment {
  toMillis(): number;
}

/** The part of `CronTime` of the package cron that is used here. */
export interface JobCronTime extends CronTime {
  /** The expression; a {@link Moment} if the job runs once. */
  readonly source: unknown;
  readonly timeZone?: string;
  /** Local time minus UTC in minutes, of a job that has no time zone. */
  readonly utcOffset?: number;
  /** True if the job runs once, at a date. */
  readonly realDate: boolean;
}

/** The part of `CronJob` of the package cron that is used here. */
export interface CronJob {
  /** Exists since cron 4 (@nestjs/schedule 6). */
  readonly isActive?: boolean;
  /** Exists until cron 3. */
  readonly running?: boolean;
  readonly cronTime: JobCronTime;
}

/** The part of `SchedulerRegistry` of @nestjs/schedule that is used here. */
export interface Registry {
  getCronJobs(): ReadonlyMap<string, CronJob>;
  getIntervals(): readonly string[];
  getTimeouts(): readonly string[];
}

/** The registry of the scheduler. Each import of it since Nest 11 has one of its own, with all jobs. */
export function findRegistry(discovery: DiscoveryService): Registry | undefined {
  return findRegistries(discovery)[0]?.instance as Registry | undefined;
}

/**
 * Finds the registries by their name, or by the methods of its class: in a minified bundle the class has another name. An import
 * would load a package that the application may not have, or another copy than the one in the bundle.
 */
export function findRegistries(discovery: DiscoveryService): InstanceWrapper[] {
  const found = discovery
    .getProviders()
    .filter(({ name, instance }) => name === 'SchedulerRegistry' || isRegistry(instance));
  // Another token may show the same one.
  return [...new Map(found.map((wrapper) => [wrapper.instance as unknown, wrapper])).values()];
}

/** Looks at the class, because getters of other providers must not run. */
function isRegistry(instance: unknown): boolean {
  if (typeof instance !== 'object' || instance === null) return false;
  const prototype = Object.getPrototypeOf(instance) as object | null;
  const methods: readonly (keyof Registry)[] = ['getCronJobs', 'getIntervals', 'getTimeouts'];
  return prototype !== null && methods.every((method) => Object.hasOwn(prototype, method));
}

/** Whether the scheduler runs the job now: the application may have stopped it. */
export function isActive(job: CronJob): boolean {
  return job.isActive ?? job.running ?? false;
}

/**
 * Finds the job of a method by its name. If the method has no name, finds any job with the same expression and time
 * zone, because that job is due at the same times. Another one of them may be stopped.
 */
export function jobOf(schedule: ScheduleMetadata, registry: Registry): CronJob | undefined {
  const { name, isDisabled = false } = schedule;
  const jobs = registry.getCronJobs();
  if (name !== undefined) return jobs.get(name);
  const same = [...jobs.values()].filter(({ cronTime }) => isOf(cronTime, schedule));
  return same.find((job) => isActive(job) !== isDisabled) ?? same[0];
}

function isOf(cronTime: JobCronTime, schedule: ScheduleMetadata): boolean {
  // The text of a date depends on its time zone.
  if (cronTime.realDate) return (cronTime.source as Moment).toMillis() === Date.parse(schedule.expression);
  if (String(cronTime.source) !== schedule.expression || cronTime.utcOffset !== schedule.utcOffset) return false;
  const zone = zoneOf(schedule);
  return (cronTime.timeZone ?? zone) === zone;
}
