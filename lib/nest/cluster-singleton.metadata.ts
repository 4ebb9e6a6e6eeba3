import type { RunOptions } from '../gatekeeper/index.js';
import { sharedKey } from '../core/copies/shared.js';

/** Key of a guarded method's {@link ClusterSingletonMetadata}. */
export const CLUSTER_SINGLETON = sharedKey('cluster-singleton');

/**
 * The property into which Nest injects the GatekeeperService. If there is none, Nest prints the symbol's description,
 * so the description says what to do. Other words need another format: they are the key.
 */
export const GATEKEEPER_PROPERTY: symbol = sharedKey(
  'GatekeeperService for @ClusterSingleton: import GatekeeperModule.forRoot({...}), ' +
    'or GatekeeperTestingModule.forRoot() of nestjs-gatekeeper/testing',
);

/** The semaphore of a guarded method: its name, or a function of the method's arguments that returns the name. */
export type SemaphoreName = string | ((...args: never[]) => string);

/** Options of `@ClusterSingleton`: those of `run()`, except `duration`, which is an argument. */
export interface ClusterSingletonOptions extends Omit<RunOptions, 'duration'> {
  /**
   * Name of the job in events, history, "run now" and for `missed`. It must be the same on all nodes. Default: class and
   * method, "JobsService.export".
   */
  readonly job?: string;
  /**
   * For a method with `@Cron`: effect of a planned time that passed while the whole cluster was down, or the store. `skip`
   * (default): it is not made up for. `once`: after the start one node runs the job once, for the last planned time that was
   * missed by more than a minute, unless the next one comes before.
   */
  readonly missed?: 'skip' | 'once';
}

/** Arguments of `@ClusterSingleton` on a method, as written; checked when the application boots. */
export interface ClusterSingletonMetadata {
  /** Name of the semaphore, or a function that makes it from the method's arguments. */
  readonly semaphore: SemaphoreName;
  /** The decorator's second argument. */
  readonly duration?: number | string;
  /** The decorator's third argument, without `missed` and `job`. */
  readonly options: Omit<ClusterSingletonOptions, 'missed' | 'job'>;
  /** As written. */
  readonly job?: string;
  /** As written. */
  readonly missed?: ClusterSingletonOptions['missed'];
  /** How many decorators the method has; more than one is a mistake. */
  readonly count: number;
  /** Number of its parameters, without those that have a default. A decorator above may hide them. */
  readonly parameters: number;
}
