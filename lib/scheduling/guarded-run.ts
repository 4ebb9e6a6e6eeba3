import type { Gatekeeper } from '../gatekeeper/index.js';
import { GatekeeperError } from '../semaphores/index.js';
import { GATEKEEPER_PROPERTY } from './cluster-singleton.constants.js';
import { NO_GATEKEEPER } from './cluster-singleton.messages.js';
import type { ClusterSingletonMetadata } from './cluster-singleton.metadata.js';

/** A guarded method was called on an instance without a gatekeeper. Fails closed: the method does not run. */
export class NoGatekeeperError extends GatekeeperError {
  readonly code = 'no-gatekeeper';
}

interface Guarded {
  [GATEKEEPER_PROPERTY]?: Gatekeeper;
}

/**
 * Gives an instance that Nest did not make (in a unit test) the gatekeeper that its guarded methods ask.
 *
 * @returns the instance
 */
export function guardWith<T extends object>(instance: T, gatekeeper: Gatekeeper): T {
  (instance as Guarded)[GATEKEEPER_PROPERTY] = gatekeeper;
  return instance;
}

/** @throws NoGatekeeperError, or whatever `work` throws */
export async function runGuarded(
  instance: Guarded,
  methodName: string,
  { semaphore, duration, options }: ClusterSingletonMetadata,
  args: never[],
  work: () => unknown,
): Promise<unknown> {
  const gatekeeper = instance?.[GATEKEEPER_PROPERTY];
  // By the class of the instance: two classes that inherit a method run it as two tasks.
  const method = `${instance?.constructor.name}.${methodName}`;
  if (!gatekeeper) throw new NoGatekeeperError(NO_GATEKEEPER(method));
  const name = typeof semaphore === 'function' ? semaphore.apply(instance, args) : semaphore;
  // A name that depends on the arguments makes runs for different arguments different tasks.
  const task = typeof semaphore === 'function' ? `${method}(${name})` : method;
  const result = await gatekeeper.run(name, work, { ...options, duration, task });
  return result.executed ? result.value : undefined;
}
