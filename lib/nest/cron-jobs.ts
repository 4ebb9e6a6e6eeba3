import type { DiscoveryService } from '@nestjs/core';
import { type ScheduleMetadata, zoneOf } from './schedule-metadata.js';

/** The part of luxon's DateTime that is used here. */
export interface Moment {
  toMillis(): number;
  /** The time this number of ms before. */
  minus(duration: number): Moment;
}

/** The part of `CronJob` of the package cron that is used here. */
export interface CronJob {
  /** Exists since cron 4 (@nestjs/schedule 6). */
  readonly isActive?: boolean;
  /** Exists until cron 3. */
  readonly running?: boolean;
  readonly cronTime: {
    readonly source: unknown;
    readonly timeZone?: string;
    /** True if the job runs once, at a date. */
    readonly realDate: boolean;
    getNextDateFrom(start: Date | Moment): Moment;
  };
  nextDate(): Moment;
}

/** The part of `SchedulerRegistry` of @nestjs/schedule that is used here. */
export interface Registry {
  getCronJobs(): ReadonlyMap<string, CronJob>;
  getIntervals(): readonly string[];
  getTimeouts(): readonly string[];
}

/** Finds the registry by its name, because an import would load a package that the application may not have. */
export function findRegistry(discovery: DiscoveryService): Registry | undefined {
  const wrapper = discovery.getProviders().find(({ name }) => name === 'SchedulerRegistry');
  return wrapper?.instance as Registry | undefined;
}

/**
 * Finds the job of a method by its name. If the method has no name, finds any job with the same expression and time
 * zone, because that job is due at the same times.
 */
export function jobOf(schedule: ScheduleMetadata, registry: Registry): CronJob | undefined {
  const { name, expression } = schedule;
  const jobs = registry.getCronJobs();
  if (name !== undefined) return jobs.get(name);
  const zone = zoneOf(schedule);
  return [...jobs.values()].find(
    ({ cronTime }) => String(cronTime.source) === expression && (cronTime.timeZone ?? zone) === zone,
  );
}
