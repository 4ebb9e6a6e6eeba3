import type { RunOptions } from '../gatekeeper/index.js';

/** The semaphore of a guarded method: its name, or a function of the method's arguments that returns the name. */
export type SemaphoreName = string | ((...args: never[]) => string);

/**
 * Options of `@ClusterSingleton`: those of `run()`, except `duration`, which is an argument, and `job`, which is the
 * name of the method ("JobsService.export").
 */
export type ClusterSingletonOptions = Omit<RunOptions, 'duration' | 'job'>;

/** Arguments of `@ClusterSingleton` on a method, as written; checked when the application boots. */
export interface ClusterSingletonMetadata {
  readonly semaphore: SemaphoreName;
  readonly duration?: number | string;
  readonly options: ClusterSingletonOptions;
  /** How many decorators the method has; more than one is a mistake. */
  readonly count: number;
}
