import type { ClusterSingletonMetadata } from './cluster-singleton.metadata.js';
import type { ScheduleMetadata } from './schedule-metadata.js';

/** A method that the explorer found to be guarded. */
export interface GuardedMethod {
  /** "JobsService.export" */
  readonly method: string;
  /** The arguments of its `@ClusterSingleton`. */
  readonly metadata: ClusterSingletonMetadata;
  /** Whether there is one instance from the start; else @nestjs/schedule can't run it. */
  readonly isStatic: boolean;
  /** When @nestjs/schedule runs it, if it does. */
  readonly schedule?: ScheduleMetadata;
}
