import { createHash } from 'node:crypto';
import { shared } from '../core/copies/shared.js';
import {
  DEFAULT_LEASE,
  DEFAULT_SCOPE,
  type Gatekeeper,
  type RunResult,
  isMock,
  isReal,
  partsOf,
} from '../gatekeeper/index.js';
import {
  GatekeeperError,
  InvalidOptionsError,
  LEADER_PREFIX,
  faultsOf,
  nameSchema,
  unreserved,
} from '../core/decision/index.js';
import { GATEKEEPER_PROPERTY, type ClusterSingletonMetadata } from './cluster-singleton.metadata.js';
import { BAD_SEMAPHORE, FROZEN, NOT_ANSWERED, NO_GATEKEEPER } from './cluster-singleton.messages.js';
import { isSecondFiring } from './firings.js';
import type { GuardedCall, Place } from './guarded-call.js';
import type { LeaderOnlyMetadata } from './leader-only.metadata.js';

/**
 * A guarded method was called on an instance without a gatekeeper; then it did not run. Or its gatekeeper is a mock
 * whose `run()` does not return a RunResult; then it is not known whether the method ran.
 */
export class NoGatekeeperError extends GatekeeperError {
  static override readonly className = 'NoGatekeeperError';
  readonly code = 'no-gatekeeper';
}

/** The part of a gatekeeper that guarded methods use. */
export type RunsJobs = Pick<Gatekeeper, 'run'>;

interface Guarded {
  readonly [gatekeeper: symbol]: RunsJobs | undefined;
}

/** How a gatekeeper runs the methods that it guards. */
interface GuardedRuns {
  singleton(gatekeeper: RunsJobs, call: GuardedCall, metadata: ClusterSingletonMetadata): Promise<unknown>;
  asLeader(gatekeeper: RunsJobs, call: GuardedCall, metadata: LeaderOnlyMetadata): Promise<unknown>;
}

const OWN_RUNS: GuardedRuns = { singleton: runSingleton, asLeader: runOnLeader };

/**
 * The decorator of a method may come from another copy of this package than its gatekeeper. The gatekeeper's copy runs it:
 * only that knows the parts of the gatekeeper.
 */
const runsByGatekeeper = shared('guarded runs', () => new WeakMap<object, GuardedRuns>());

/** Lets decorators of all copies of this package use a gatekeeper that this copy has made. */
export function serveGuardedMethods(gatekeeper: RunsJobs): void {
  runsByGatekeeper.set(gatekeeper, OWN_RUNS);
}

/**
 * Gives a gatekeeper to an instance that Nest did not create, for example in a unit test. The guarded methods of the
 * instance then ask that gatekeeper.
 *
 * @param gatekeeper a `TestGatekeeper` of `nestjs-gatekeeper/testing`, a real gatekeeper, or an object with a method
 *   `run` that returns a RunResult
 * @returns the same instance
 * @throws InvalidOptionsError for a frozen or sealed instance
 */
export function guardWith<T extends object>(instance: T, gatekeeper: RunsJobs): T {
  if (!isMock(gatekeeper)) serveGuardedMethods(gatekeeper);
  const isGiven = Reflect.set(instance, GATEKEEPER_PROPERTY, gatekeeper);
  if (!isGiven) throw new InvalidOptionsError('guardWith', [FROZEN(instance.constructor.name)]);
  return instance;
}

/**
 * Runs a guarded method.
 *
 * @returns the result of `work`; undefined if the run was skipped
 * @throws NoGatekeeperError, InvalidOptionsError for the name that a function returned, or any error of `run()` and
 *   `work`
 */
export async function runGuarded(call: GuardedCall, metadata: ClusterSingletonMetadata): Promise<unknown> {
  const gatekeeper = gatekeeperOf(call, '@ClusterSingleton');
  return runsOf(gatekeeper).singleton(gatekeeper, call, metadata);
}

async function runSingleton(
  gatekeeper: RunsJobs,
  { instance, place, args, work }: GuardedCall,
  { semaphore, duration, options, job: given }: ClusterSingletonMetadata,
): Promise<unknown> {
  const method = jobName(instance, place, given);
  const name = typeof semaphore === 'function' ? checked(semaphore.apply(instance, args), method) : semaphore;
  if (isSecondFiring({ instance, place }, name)) return undefined;
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
 * Runs a method of `@LeaderOnly` if this node leads. A mock, or a TestGatekeeper, decides by the scope's semaphore.
 *
 * @throws NoGatekeeperError, UnknownScopeError, or any error of the method
 */
export async function runAsLeader(call: GuardedCall, metadata: LeaderOnlyMetadata): Promise<unknown> {
  const gatekeeper = gatekeeperOf(call, '@LeaderOnly');
  return runsOf(gatekeeper).asLeader(gatekeeper, call, metadata);
}

async function runOnLeader(
  gatekeeper: RunsJobs,
  { instance, place, work }: GuardedCall,
  { scope }: LeaderOnlyMetadata,
): Promise<unknown> {
  const job = jobName(instance, place);
  if (isSecondFiring({ instance, place }, LEADER_PREFIX + (scope ?? ''))) return undefined;
  if (isReal(gatekeeper)) return valueOf(await partsOf(gatekeeper).cluster.scope(scope).run(job, work), job);
  const name = LEADER_PREFIX + (scope ?? DEFAULT_SCOPE);
  const options = { job, ...(!isMock(gatekeeper) && { duration: DEFAULT_LEASE }) };
  return valueOf(await gatekeeper.run?.(name, work, options), job);
}

/** @throws NoGatekeeperError */
function gatekeeperOf({ instance, place }: GuardedCall, decorator: string): RunsJobs {
  const gatekeeper = (instance as Guarded | undefined)?.[GATEKEEPER_PROPERTY];
  if (!gatekeeper) throw new NoGatekeeperError(NO_GATEKEEPER(decorator, jobName(instance, place)));
  return gatekeeper;
}

/** A mock has none of its own. */
function runsOf(gatekeeper: RunsJobs): GuardedRuns {
  return runsByGatekeeper.get(gatekeeper) ?? OWN_RUNS;
}

/** @throws NoGatekeeperError for a mock that does not say whether it ran the method */
function valueOf(result: RunResult<unknown> | undefined, method: string): unknown {
  // A mock may return anything: a job that silently never ran would look like a skipped one.
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
 * Returns the name of the job: the given one, or one that contains the class of the instance, so two classes that inherit a
 * method run it as two jobs. An overridden method that is called through `super` is a separate job. Otherwise it would overlap with its
 * caller and be skipped.
 */
function jobName(instance: object | undefined, { target, property }: Place, given?: string): string {
  const owner = target.constructor.name;
  const own = instance?.constructor.name ?? owner;
  const name = given ?? `${own}.${String(property)}`;
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
