import { InvalidOptionsError } from '../core/decision/index.js';
import type { Tasks } from '../tasks/index.js';
import { unstableName } from './class-names.js';
import { CLUSTER_CRON, type ClusterCronMetadata } from './cluster-cron.metadata.js';
import { SECOND_INSTANCE, SECOND_SCHEDULE, UNSTABLE_SCHEDULE } from './cluster-singleton.messages.js';
import type { DecoratedMethod, DecoratedMethods } from './decorated-methods.js';
import { callOf, taskMethodFault } from './task-method.js';

type Scheduled = DecoratedMethod<readonly ClusterCronMetadata[]>;

/**
 * Connects the methods with `@ClusterCron`.
 *
 * @returns every fault of every schedule, in sentences
 */
export function connectSchedules(decorated: DecoratedMethods, tasks: Tasks): string[] {
  const former = new Map<string, string>();
  const methods = decorated.find<readonly ClusterCronMetadata[]>(CLUSTER_CRON);
  return methods.flatMap((scheduled) =>
    scheduled.metadata.flatMap((metadata) => connect(scheduled, metadata, tasks, former)),
  );
}

/** @param former the methods that were connected before, by the names of their schedules */
function connect(scheduled: Scheduled, metadata: ClusterCronMetadata, tasks: Tasks, former: Map<string, string>) {
  const { method } = scheduled;
  const fault = taskMethodFault(scheduled);
  if (fault !== undefined) return [fault];
  const { name = method, ...options } = metadata.options;
  const unstable = metadata.options.name === undefined ? unstableName(scheduled) : undefined;
  if (unstable) return [UNSTABLE_SCHEDULE(method, unstable)];
  const other = former.get(name);
  if (other !== undefined) return [other === method ? SECOND_INSTANCE(method) : SECOND_SCHEDULE(method, other, name)];
  former.set(name, method);
  try {
    tasks.schedules.add(name, metadata.expression, callOf(scheduled), options);
    return [];
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.faults.map((fault) => `${method}: ${fault}`);
    throw error;
  }
}
