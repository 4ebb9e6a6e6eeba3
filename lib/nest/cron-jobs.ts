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
    /** It comes once, at a date. */
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

/** By its name: an import would load a package that the application may not have. */
export function findRegistry(discovery: DiscoveryService): Registry | undefined {
  const wrapper = discovery.getProviders().find(({ name }) => name === 'SchedulerRegistry');
  return wrapper?.instance as Registry | undefined;
}

/**
 * The job that was registered for a method: by its name; or else one of the same time in the same zone, which comes at
 * the same moments whatever it runs.
 */
export function jobOf({ name, expression, timeZone }: ScheduleMetadata, registry: Registry): CronJob | undefined {
  const jobs = registry.getCronJobs();
  if (name !== undefined) return jobs.get(name);
  const zone = timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return [...jobs.values()].find(
    ({ cronTime }) => String(cronTime.source) === expression && (cronTime.timeZone ?? zone) === zone,
  );
}
