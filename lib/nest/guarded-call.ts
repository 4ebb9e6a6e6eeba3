import { shared, sharedKey } from '../core/copies/shared.js';
import { GatekeeperError, InvalidOptionsError } from '../core/decision/index.js';
import { type Gatekeeper, type RunResult, isMock } from '../gatekeeper/index.js';
import { FROZEN, NOT_ANSWERED, NO_GATEKEEPER } from './messages.js';

/* A call of a guarded method: which gatekeeper it asks, and which copy of this package runs it. */

/**
 * The property into which Nest injects the GatekeeperService. If there is none, Nest prints the symbol's description,
 * so the description says what to do. Other words need another format: they are the key.
 */
export const GATEKEEPER_PROPERTY: symbol = sharedKey(
  'GatekeeperService for @ClusterSingleton: import GatekeeperModule.forRoot({...}), ' +
    'or GatekeeperTestingModule.forRoot() of nestjs-gatekeeper/testing',
);

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

/** The decorated method. */
export interface Place {
  /** The prototype of the class that has the method. */
  readonly target: object;
  readonly property: string | symbol;
}

/** A call of a guarded method. */
export interface GuardedCall {
  readonly instance: object | undefined;
  readonly place: Place;
  readonly args: never[];
  /** Calls the method itself. */
  readonly work: () => unknown;
}

/** A decorator that guards methods: `@ClusterSingleton` or `@LeaderOnly`. */
export interface Guard<M> {
  /** As users write it: "@ClusterSingleton". */
  readonly decorator: string;
  /** Key of its metadata on the method. */
  readonly key: symbol;
  /** Runs the method under a permit of the gatekeeper, or skips it. */
  readonly run: (gatekeeper: RunsJobs, call: GuardedCall, metadata: M) => Promise<unknown>;
}

/** The guards of this copy of the package, by decorator. */
const ownGuards = new Map<string, Guard<never>>();

/**
 * The guards of each gatekeeper's copy. The decorator of a method may come from another copy of this package than its
 * gatekeeper. The gatekeeper's copy runs it: only that knows the parts of the gatekeeper.
 */
const guardsByGatekeeper = shared('guarded runs', () => new WeakMap<object, ReadonlyMap<string, Guard<never>>>());

/** Makes a guard known, so that gatekeepers of this copy run its methods. */
export function defineGuard<M>(guard: Guard<M>): Guard<M> {
  ownGuards.set(guard.decorator, guard);
  return guard;
}

/** Whether a decorator guards the method. */
export function isGuarded(method: object): boolean {
  return [...ownGuards.values()].some(({ key }) => Reflect.hasMetadata(key, method));
}

/** Lets decorators of all copies of this package use a gatekeeper that this copy has made. */
export function serveGuardedMethods(gatekeeper: RunsJobs): void {
  guardsByGatekeeper.set(gatekeeper, ownGuards);
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
 * @returns the result of `call.work`; undefined if the run was skipped
 * @throws NoGatekeeperError, or any error of the guard and of the method
 */
export async function runGuarded<M>(guard: Guard<M>, call: GuardedCall, metadata: M): Promise<unknown> {
  const { decorator } = guard;
  const gatekeeper = (call.instance as Guarded | undefined)?.[GATEKEEPER_PROPERTY];
  if (!gatekeeper) throw new NoGatekeeperError(NO_GATEKEEPER(decorator, jobName(call)));
  // A mock has no copy.
  const served = guardsByGatekeeper.get(gatekeeper)?.get(decorator) as Guard<M> | undefined;
  return (served ?? guard).run(gatekeeper, call, metadata);
}

/** @throws NoGatekeeperError for a mock that does not say whether it ran the method */
export function valueOf(result: RunResult<unknown> | undefined, method: string): unknown {
  // A mock may return anything: a job that silently never ran would look like a skipped one.
  if (typeof result?.executed !== 'boolean') throw new NoGatekeeperError(NOT_ANSWERED(method, result));
  return result.executed ? result.value : undefined;
}

/**
 * Returns the name of the job: the given one, or one that contains the class of the instance, so two classes that inherit a
 * method run it as two jobs. An overridden method that is called through `super` is a separate job. Otherwise it would overlap with its
 * caller and be skipped.
 */
export function jobName({ instance, place }: Pick<GuardedCall, 'instance' | 'place'>, given?: string): string {
  const { target, property } = place;
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
