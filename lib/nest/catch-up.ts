import type { CatchUpJob, RunnableJob } from '../gatekeeper/index.js';
import { parseRunOptions } from '../gatekeeper/index.js';
import { show } from '../core/decision/index.js';
import { type Ticks, readTicks } from '../core/cron/ticks.js';
import type { ClusterSingletonMetadata } from './cluster-singleton.decorator.js';
import { type Registry, isActive, jobOf } from './cron-jobs.js';
import type { GuardedMethod } from './guarded-method.js';
import { type ScheduleMetadata, zoneOf } from './schedule-metadata.js';

/** ms: a run that waits longer for its permit could begin after another node has made up for it. */
const LONGEST_WAIT = 60_000;

type Guarded = Pick<GuardedMethod, 'schedule' | 'isStatic'> & {
  readonly metadata: Pick<ClusterSingletonMetadata, 'semaphore' | 'options' | 'missed'>;
};

/** Faults of the option `missed` of a guarded method, in sentences. */
export function missedFaults({ schedule, isStatic, metadata: { missed, semaphore, options } }: Guarded): string[] {
  if (missed === undefined || missed === 'skip') return [];
  if (missed !== 'once') return [`missed: ${show(missed)} is not "skip" or "once"`];
  if (schedule?.kind !== 'cron') return ['missed: "once" needs an @Cron on the same method'];
  if (typeof semaphore === 'function') return ['missed: "once" needs a fixed name of the semaphore'];
  if (!isStatic) return ['missed: "once" needs a singleton provider'];
  if (schedule.utcOffset !== undefined) return ['missed: "once" needs a timeZone in @Cron instead of utcOffset'];
  const wait = parseRunOptions('any', options).wait ?? 0;
  if (wait >= LONGEST_WAIT) return [`missed: "once" needs a wait below ${LONGEST_WAIT} ms`];
  const read = readTicks(schedule.expression, zoneOf(schedule));
  return 'faults' in read ? read.faults.map((fault) => `missed: ${fault}`) : [];
}

/** The job for which missed runs are made up. It must have no {@link missedFaults}. */
export function catchUpJob(job: RunnableJob, schedule: ScheduleMetadata, registry: Registry | undefined): CatchUpJob {
  const timeZone = zoneOf(schedule);
  const { ticks } = readTicks(schedule.expression, timeZone) as { readonly ticks: Ticks };
  // The scheduler may be off on this node, or the application has stopped the job.
  const isScheduled = () => {
    const found = registry && jobOf(schedule, registry);
    return found !== undefined && isActive(found);
  };
  return { ...job, expression: schedule.expression, timeZone, times: ticks, isScheduled };
}
