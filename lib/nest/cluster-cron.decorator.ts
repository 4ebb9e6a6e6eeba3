import type { ScheduleFunction, ScheduleOptions } from '../tasks/index.js';
import { sharedKey } from '../core/copies/shared.js';
import { type DecoratorFor, markMethod } from './method-decorator.js';

/** Metadata on a method that runs at the ticks of schedules: a list of {@link ClusterCronMetadata}. */
export const CLUSTER_CRON = sharedKey('cluster-cron');

/** Options of `@ClusterCron`. */
export interface ClusterCronOptions extends ScheduleOptions {
  /**
   * Name of the schedule in the cluster: 1 to 59 letters, digits, `_`, `.` or `-`. Give one: a renamed class is another
   * schedule.
   *
   * @defaultValue class and method, `JobsService.export`
   */
  readonly name?: string;
}

/** One decorator on a method, as written; checked when the application boots. */
export interface ClusterCronMetadata {
  readonly expression: string;
  readonly options: ClusterCronOptions;
}

/**
 * Calls the method at the times of a cron expression, once per time in the whole cluster. Each call is a task: it survives
 * a crash of its node, is tried again after an error, and is at least once. For work on every node use `@Cron`.
 *
 * @param expression 5 or 6 fields, as for `@Cron`: "0 3 * * *", or with seconds "0 0 3 * * *"
 * @param options name, mode, time zone (default UTC), missed ticks; and options of the tasks and of their handler
 * @throws InvalidOptionsError when it decorates something other than a method of instances; everything else is checked
 *   when the application boots
 *
 * @example
 * ```ts
 * @ClusterCron('0 3 * * *', { name: 'nightly-export', timeZone: 'Europe/Berlin', missed: 'once' })
 * async export({ plannedAt, signal }: ScheduleContext) {
 *   await this.exports.write(plannedAt, { signal });
 * }
 * ```
 */
export function ClusterCron(expression: string, options: ClusterCronOptions = {}): DecoratorFor<ScheduleFunction> {
  return markMethod<ClusterCronMetadata>('@ClusterCron', CLUSTER_CRON, { expression, options });
}
