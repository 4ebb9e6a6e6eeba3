import type { RunOptions } from '../gatekeeper/index.js';

/** The semaphore of a guarded method: a name, or a function of the method's arguments that gives one. */
export type SemaphoreName = string | ((...args: never[]) => string);

/** Options of `@ClusterSingleton`. */
export type ClusterSingletonOptions = Omit<RunOptions, 'duration' | 'job'>;

/** Arguments of `@ClusterSingleton` on a method, as written; checked when the application boots. */
export interface ClusterSingletonMetadata {
  readonly semaphore: SemaphoreName;
  readonly duration?: number | string;
  readonly options: ClusterSingletonOptions;
  /** How many decorators the method has; more than one is a mistake. */
  readonly count: number;
}
