import type { JobInfo } from '../gatekeeper/index.js';
import type { UnstableName } from './class-names.js';
import type { ClusterSingletonMetadata } from './cluster-singleton.decorator.js';
import type { ScheduleMetadata } from './schedule-metadata.js';

/** A guarded method of the application. */
export interface GuardedMethod {
  /** Class and method: "JobsService.export". */
  readonly method: string;
  /** Name of the job: the option `job`, or the method. */
  readonly job: string;
  /** Why the class has another name elsewhere, if the job is named after it. */
  readonly unstable?: UnstableName | undefined;
  /** The arguments of its `@ClusterSingleton`. */
  readonly metadata: Omit<ClusterSingletonMetadata, 'parameters'>;
  /** Whether its provider has a single instance, created at boot. If not, @nestjs/schedule does not run the method. */
  readonly isStatic: boolean;
  /** Whether a person may run it now; absent for a method of `@LeaderOnly`. */
  readonly runNow?: JobInfo['runNow'];
  /** Its decorator of @nestjs/schedule; absent if it has none. */
  readonly schedule?: ScheduleMetadata;
}
