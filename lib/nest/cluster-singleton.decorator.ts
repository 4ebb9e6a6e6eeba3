import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import { PROPERTY_DEPS_METADATA } from '@nestjs/common/constants.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { InvalidOptionsError } from '../decision/index.js';
import { CLUSTER_SINGLETON, GATEKEEPER_PROPERTY } from './cluster-singleton.constants.js';
import { NOT_A_METHOD, STATIC_METHOD } from './cluster-singleton.messages.js';
import type { ClusterSingletonMetadata, ClusterSingletonOptions, SemaphoreName } from './cluster-singleton.metadata.js';
import { type Place, runGuarded } from './guarded-run.js';

type Method = (this: object, ...args: never[]) => unknown;

/**
 * Runs the method only if this node gets, or still has, a permit of a semaphore. So it runs on one node of the cluster,
 * unless the semaphore has more permits. Works above and below `@Cron`, `@Interval` and `@Timeout`, and on any method
 * that is called directly.
 *
 * A guarded method always returns a promise. A skipped run resolves to undefined, or rejects with a RunSkippedError if
 * `onSkip` is `'throw'`. A call on an instance without a gatekeeper rejects with a NoGatekeeperError.
 *
 * The decorator itself wraps the method and copies its metadata, so the order of decorators and of module imports does
 * not matter. Nest injects the gatekeeper of the application that made the instance.
 *
 * @param semaphore the semaphore's name, or a function of the method's arguments that returns it (for a lock per
 *   tenant)
 * @param duration how long a permit lasts: ms, or text ("10m"). A definition of that name in the module's options, or
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
  duration?: number | string,
  options: ClusterSingletonOptions = {},
): MethodDecorator {
  return (target, property, descriptor: PropertyDescriptor) => {
    const original = descriptor?.value as Method | undefined;
    checkTarget(target, property, original);
    const count = ((Reflect.getMetadata(CLUSTER_SINGLETON, original!) as ClusterSingletonMetadata)?.count ?? 0) + 1;
    const metadata: ClusterSingletonMetadata = { semaphore, duration, options, count };
    descriptor.value = wrap(original!, { target, property }, metadata);
    injectGatekeeper(target);
  };
}

function checkTarget(target: object, property: string | symbol, original: unknown): void {
  if (typeof original !== 'function')
    throw new InvalidOptionsError('@ClusterSingleton', [NOT_A_METHOD(String(property))]);
  if (typeof target !== 'function') return;
  throw new InvalidOptionsError('@ClusterSingleton', [STATIC_METHOD(`${target.name}.${String(property)}`)]);
}

function wrap(original: Method, place: Place, metadata: ClusterSingletonMetadata): Method {
  const guarded: Method = function (...args) {
    return runGuarded({ instance: this, place, metadata, args, work: () => original.apply(this, args) });
  };
  Object.defineProperty(guarded, 'name', { value: original.name });
  Object.defineProperty(guarded, 'length', { value: original.length });
  // Copies the metadata of decorators that stand below this one (@Cron, a route, a guard).
  for (const key of Reflect.getMetadataKeys(original)) {
    Reflect.defineMetadata(key, Reflect.getMetadata(key, original), guarded);
  }
  Reflect.defineMetadata(CLUSTER_SINGLETON, metadata, guarded);
  return guarded;
}

/**
 * Property injection also works for request-scoped and inherited instances, and uses the application of the instance.
 */
function injectGatekeeper(target: object): void {
  const properties = (Reflect.getMetadata(PROPERTY_DEPS_METADATA, target.constructor) ?? []) as { key: unknown }[];
  if (properties.some(({ key }) => key === GATEKEEPER_PROPERTY)) return;
  Inject(GatekeeperService)(target, GATEKEEPER_PROPERTY);
}
