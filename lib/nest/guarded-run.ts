import { type Gatekeeper, isMock, partsOf } from '../gatekeeper/index.js';
import { GatekeeperError, InvalidOptionsError, faultsOf, nameSchema, unreserved } from '../decision/index.js';
import { GATEKEEPER_PROPERTY } from './cluster-singleton.constants.js';
import { BAD_SEMAPHORE, NOT_ANSWERED, NO_GATEKEEPER } from './cluster-singleton.messages.js';
import type { ClusterSingletonMetadata } from './cluster-singleton.metadata.js';

/**
 * A guarded method was called on an instance without a gatekeeper; then it did not run. Or its gatekeeper is a mock
 * whose `run()` does not return a RunResult; then it is not known whether the method ran.
 */
export class NoGatekeeperError extends GatekeeperError {
  readonly code = 'no-gatekeeper';
}

/** The part of a gatekeeper that guarded methods use. */
export type RunsJobs = Pick<Gatekeeper, 'run'>;

interface Guarded {
  [GATEKEEPER_PROPERTY]?: RunsJobs;
}

/**
 * Gives a gatekeeper to an instance that Nest did not create, for example in a unit test. The guarded methods of the
 * instance then ask that gatekeeper.
 *
 * @param gatekeeper a `TestGatekeeper` of `nestjs-gatekeeper/testing`, a real gatekeeper, or an object with a method
 *   `run` that returns a RunResult
 * @returns the same instance
 */
export function guardWith<T extends object>(instance: T, gatekeeper: RunsJobs): T {
  (instance as Guarded)[GATEKEEPER_PROPERTY] = gatekeeper;
  return instance;
}

/** The decorated method. */
export interface Place {
  /** The prototype of the class that has the method. */
  readonly target: object;
  readonly property: string | symbol;
}

interface GuardedCall {
  readonly instance: Guarded | undefined;
  readonly place: Place;
  readonly metadata: ClusterSingletonMetadata;
  readonly args: never[];
  readonly work: () => unknown;
}

/**
 * Runs a guarded method.
 *
 * @returns the result of `work`; undefined if the run was skipped
 * @throws NoGatekeeperError, InvalidOptionsError for the name that a function returned, or any error of `run()` and
 *   `work`
 */
export async function runGuarded({ instance, place, metadata, args, work }: GuardedCall): Promise<unknown> {
  const { semaphore, duration, options } = metadata;
  const gatekeeper = instance?.[GATEKEEPER_PROPERTY];
  const method = jobName(instance, place);
  if (!gatekeeper) throw new NoGatekeeperError(NO_GATEKEEPER(method));
  const name = typeof semaphore === 'function' ? checked(semaphore.apply(instance, args), method) : semaphore;
  const asked = isMock(gatekeeper) ? undefined : await durationOf(gatekeeper, name, duration);
  // If the name depends on the arguments, runs for different arguments are different jobs: they do not overlap.
  const job = typeof semaphore === 'function' ? `${method}(${name})` : method;
  const onDemand = asked === undefined ? {} : { duration: asked };
  const result = await gatekeeper.run?.(name, work, { ...onDemand, ...options, job });
  // A mock may return anything. Without this check, a method that never ran would look like a skipped one.
  if (typeof result?.executed !== 'boolean') throw new NoGatekeeperError(NOT_ANSWERED(method, result));
  return result.executed ? result.value : undefined;
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

/**
 * Returns the name of the job. It contains the class of the instance, so two classes that inherit a method run it as
 * two jobs. An overridden method that is called through `super` is a separate job. Otherwise it would overlap with its
 * caller and be skipped.
 */
function jobName(instance: Guarded | undefined, { target, property }: Place): string {
  const owner = target.constructor.name;
  const own = instance?.constructor.name ?? owner;
  const name = `${own}.${String(property)}`;
  return instance && isOverridden(instance, target, property) ? `${name} (super ${owner})` : name;
}

function isOverridden(instance: object, target: object, property: string | symbol): boolean {
  let owner = Object.getPrototypeOf(instance) as object | null;
  while (owner && owner !== target && !Object.hasOwn(owner, property)) owner = Object.getPrototypeOf(owner) as object;
  return owner !== null && owner !== target;
}

function checked(name: unknown, method: string): string {
  const parsed = nameSchema.safeParse(name);
  if (parsed.success) return parsed.data;
  throw new InvalidOptionsError(method, faultsOf(parsed.error).map(BAD_SEMAPHORE));
}
