import { createHash } from 'node:crypto';
import { sharedKey } from '../core/copies/shared.js';
import { InvalidOptionsError, faultsOf, nameSchema, unreserved } from '../core/decision/index.js';
import { type RunOptions, isMock, partsOf } from '../gatekeeper/index.js';
import { isSecondFiring } from './firings.js';
import { type GuardedCall, type RunsJobs, defineGuard, jobName, valueOf } from './guarded-call.js';
import { BAD_SEMAPHORE } from './messages.js';
import { type GuardDecorator, guardMethod } from './method-decorator.js';

/** Key of a guarded method's {@link ClusterSingletonMetadata}. */
export const CLUSTER_SINGLETON = sharedKey('cluster-singleton');

/** The semaphore of a guarded method: its name, or a function of the method's arguments that returns the name. */
export type SemaphoreName = string | ((...args: never[]) => string);

/** Options of `@ClusterSingleton`: those of `run()`, except `duration`, which is an argument. */
export interface ClusterSingletonOptions extends Omit<RunOptions, 'duration'> {
  /**
   * Name of the job in events, history, "run now" and for `missed`. It must be the same on all nodes.
   *
   * @defaultValue class and method, `JobsService.export`
   */
  readonly job?: string;
  /**
   * For a method with `@Cron`: effect of a planned time that passed while the whole cluster was down, or the store.
   * `skip`: it is not made up for. `once`: after the start one node runs the job once, for the last planned time that
   * was missed by more than a minute, unless the next one comes before.
   *
   * @defaultValue `skip`
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

const GUARD = defineGuard<ClusterSingletonMetadata>({
  decorator: '@ClusterSingleton',
  key: CLUSTER_SINGLETON,
  run: runSingleton,
});

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
  return guardMethod(GUARD, {
    semaphore,
    ...(duration !== undefined && { duration }),
    options,
    ...(job !== undefined && { job }),
    ...(missed !== undefined && { missed }),
  });
}

/** @throws InvalidOptionsError for the name that a function returned, or any error of `run()` and of the method */
async function runSingleton(
  gatekeeper: RunsJobs,
  call: GuardedCall,
  { semaphore, duration, options, job: given }: ClusterSingletonMetadata,
): Promise<unknown> {
  const { instance, args, work } = call;
  const method = jobName(call, given);
  const name = typeof semaphore === 'function' ? checked(semaphore.apply(instance, args), method) : semaphore;
  if (isSecondFiring(call, name)) return undefined;
  const asked = isMock(gatekeeper) ? undefined : await durationOf(gatekeeper, name, duration);
  const job = typeof semaphore === 'function' ? jobFor(method, name) : method;
  const onDemand = asked === undefined ? {} : { duration: asked };
  return valueOf(await gatekeeper.run?.(name, work, { ...onDemand, ...options, job }), method);
}

/**
 * The job of a method whose semaphore depends on the arguments. Runs for different arguments are different jobs: they do
 * not overlap. If the name would be too long for a job, its hash stands for the semaphore's.
 */
export function jobFor(method: string, semaphore: string): string {
  const job = `${method}(${semaphore})`;
  if (nameSchema.safeParse(job).success) return job;
  return `${method}(${createHash('sha256').update(semaphore).digest('base64url')})`;
}

/**
 * Returns the decorator's duration for a name without a definition. For other names it returns undefined, because the
 * definition says how long a permit lasts.
 */
async function durationOf(gatekeeper: object, name: string, duration: number | string | undefined) {
  const { declared, shards } = partsOf(gatekeeper).directory;
  if (declared.has(name)) return undefined;
  await declared.ensure(unreserved(name), duration);
  return shards.isDefined(name) || shards.isClaimed(name) ? undefined : duration;
}

function checked(name: unknown, method: string): string {
  const parsed = nameSchema.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new InvalidOptionsError(method, faultsOf(parsed.error).map(BAD_SEMAPHORE));
}
