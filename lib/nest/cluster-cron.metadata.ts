import { sharedKey } from '../core/copies/shared.js';
import type { ScheduleOptions } from '../tasks/index.js';

/** Metadata on a method that runs at the ticks of schedules: a list of {@link ClusterCronMetadata}. */
export const CLUSTER_CRON = sharedKey('cluster-cron');

/** Options of `@ClusterCron`. */
export interface ClusterCronOptions extends ScheduleOptions {
  /** Name of the schedule in the cluster: 1 to 59 letters, digits, `_`, `.` or `-`. Default: class and method, "JobsService.export". */
  readonly name?: string;
}

/** One decorator on a method, as written; checked when the application boots. */
export interface ClusterCronMetadata {
  readonly expression: string;
  readonly options: ClusterCronOptions;
}
