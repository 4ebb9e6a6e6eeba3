import {
  CLUSTER_SINGLETON,
  type ClusterSingletonMetadata,
  type ClusterSingletonOptions,
  type SemaphoreName,
} from './cluster-singleton.metadata.js';
import { guardMethod } from './guard-method.js';
import type { GuardDecorator } from './guarded-types.js';
import { runGuarded } from './guarded-run.js';

/**
 * Runs the method only if this node gets, or still has, a permit of a semaphore. So it runs on one node of the cluster,
 * unless the semaphore has more permits. Works above and below `@Cron`, `@Interval` and `@Timeout`, and on any method
 * that is called directly.
 *
 * A guarded method always returns a promise. A skipped run resolves to undefined, or rejects with a RunSkippedError if
 * `onSkip` is `'throw'`. The compiler refuses a method that returns no promise, or whose type has no undefined for a skipped run. A call on an instance without a gatekeeper rejects with a NoGatekeeperError.
 *
 * @param semaphore the semaphore's name, or a function of the method's arguments that returns it (for a lock per
 *   tenant)
 * @param duration how long a permit lasts: ms, or text ("10m", "PT10M"). A definition of that name in the module's options, or
 *   by an operator, takes precedence. Without one, the duration defines the semaphore: any group, any acquirer, one
 *   permit. If a function returns the name, that definition exists only as long as a permit does, and 15 minutes is the
 *   maximum: with a longer duration the call rejects with an InvalidOptionsError.
 * @param options see {@link ClusterSingletonOptions}
 * @throws InvalidOptionsError if it decorates anything but an instance method. All other faults are reported when the
 *   application boots
 *
 * @example
 * ```ts
 * @ClusterSingleton('nightly-export', '10m')
 * @Cron('0 3 * * *')
 * async export() {
 *   const permit = currentPermit();
 *   await upload(rows, { signal: permit.signal, fence: permit.token });
 * }
 * ```
 */
export function ClusterSingleton(
  semaphore: SemaphoreName,
  duration: number | string | undefined,
  options: ClusterSingletonOptions & { readonly onSkip: 'throw' },
): GuardDecorator<'throws'>;
export function ClusterSingleton(
  semaphore: SemaphoreName,
  duration?: number | string,
  options?: ClusterSingletonOptions,
): GuardDecorator<'undefined'>;
export function ClusterSingleton(
  semaphore: SemaphoreName,
  duration?: number | string,
  { missed, job, ...options }: ClusterSingletonOptions = {},
): MethodDecorator {
  return guardMethod<ClusterSingletonMetadata>({
    decorator: '@ClusterSingleton',
    key: CLUSTER_SINGLETON,
    metadata: {
      semaphore,
      ...(duration !== undefined && { duration }),
      options,
      ...(job !== undefined && { job }),
      ...(missed !== undefined && { missed }),
    },
    run: runGuarded,
  });
}
