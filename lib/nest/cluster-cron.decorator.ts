import 'reflect-metadata';
import type { ScheduleFunction } from '../tasks/index.js';
import { CLUSTER_CRON, type ClusterCronMetadata, type ClusterCronOptions } from './cluster-cron.metadata.js';
import { checkTarget } from './guard-method.js';
import type { DecoratorFor } from './task-handler.decorator.js';

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
  return (target, property, descriptor) => {
    const method = (descriptor as PropertyDescriptor | undefined)?.value as object;
    checkTarget('@ClusterCron', target, property, method);
    const others = (Reflect.getMetadata(CLUSTER_CRON, method) ?? []) as ClusterCronMetadata[];
    Reflect.defineMetadata(CLUSTER_CRON, [...others, { expression, options }], method);
  };
}
