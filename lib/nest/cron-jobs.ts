import type { DiscoveryService } from '@nestjs/core';
import type { ScheduleMetadata } from './schedule-metadata.js';

/** A date of luxon, as far as it is used. */
export interface Moment {
  toMillis(): number;
}

/** The `CronJob` of the package cron, as far as it is used. */
export interface CronJob {
  /** Since cron 4, of @nestjs/schedule 6. */
  readonly isActive?: boolean;
  /** Until cron 3. */
  readonly running?: boolean;
  readonly cronTime: {
    readonly source: unknown;
    readonly timeZone?: string;
    /** It runs once, at a date. */
    readonly realDate: boolean;
    getNextDateFrom(start: Date | Moment): Moment;
  };
  nextDate(): Moment;
}

/** The `SchedulerRegistry` of @nestjs/schedule, as far as it is used. */
export interface Registry {
  getCronJobs(): ReadonlyMap<string, CronJob>;
  getIntervals(): readonly string[];
  getTimeouts(): readonly string[];
}

/** Finds it by its name: an import would load a package that the application may not have. */
export function findRegistry(discovery: DiscoveryService): Registry | undefined {
  const wrapper = discovery.getProviders().find(({ name }) => name === 'SchedulerRegistry');
  return wrapper?.instance as Registry | undefined;
}

/**
 * The job that was registered for a method: by its name, or else any job with the same expression and time zone, which is
 * due at the same times.
 */
export function jobOf({ name, expression, timeZone }: ScheduleMetadata, registry: Registry): CronJob | undefined {
  const jobs = registry.getCronJobs();
  if (name !== undefined) return jobs.get(name);
  const zone = timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return [...jobs.values()].find(
    ({ cronTime }) => String(cronTime.source) === expression && (cronTime.timeZone ?? zone) === zone,
  );
}
