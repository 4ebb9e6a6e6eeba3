import { type ContextId, ContextIdFactory, ModuleRef } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { REQUEST_CONTEXT_ID } from '@nestjs/core/router/request/request-constants.js';
import { messageOf } from '../core/decision/index.js';
import { CLUSTER_SINGLETON, type ClusterSingletonMetadata } from './cluster-singleton.decorator.js';
import { FAILED_STRATEGY, LEADERS_TASK, QUIET_SKIP, REQUEST_SCOPED_CONTROLLER } from './messages.js';
import type { DecoratedMethod } from './decorated-methods.js';
import { preparedHandler } from '../tasks/index.js';
import { LEADER_ONLY } from './leader-only.decorator.js';

export type Call = (...args: unknown[]) => Promise<unknown>;

/** Calls a decorated method. A provider that is not static gets an instance per call: `REQUEST` is the first argument. */
export function callOf({ instance, property, wrapper, isStatic }: DecoratedMethod<unknown>): Call {
  const call = (target: unknown, args: readonly unknown[]) => (target as Record<string, Call>)[property]!(...args);
  if (isStatic) return async (...args) => call(instance, args);
  return preparedHandler(async (...args) => {
    const target = await instanceFor(wrapper, args[0] as object);
    return () => call(target, args);
  });
}

/** Why tasks can't be given to a decorated method, in a sentence; undefined if they can. */
export function taskMethodFault({
  method,
  decorated,
  wrapper,
  isStatic,
}: DecoratedMethod<unknown>): string | undefined {
  if (!isStatic && wrapper.host?.controllers.has(wrapper.token)) return REQUEST_SCOPED_CONTROLLER(method);
  // A guard that skips the call returns undefined, and that would complete the task.
  if (Reflect.hasMetadata(LEADER_ONLY, decorated)) return LEADERS_TASK(method);
  const guard = Reflect.getMetadata(CLUSTER_SINGLETON, decorated) as ClusterSingletonMetadata | undefined;
  return guard && guard.options.onSkip !== 'throw' ? QUIET_SKIP(method) : undefined;
}

function instanceFor(wrapper: InstanceWrapper, request: object): Promise<object> {
  // The module's own reference: another module may have a provider of the same token.
  const { instance: moduleRef } = wrapper.host!.getProviderByKey<ModuleRef>(ModuleRef);
  return moduleRef.resolve<object>(wrapper.token, contextOf(request, wrapper, moduleRef));
}

/**
 * The id under which Nest keeps the instances of one call, made and noted as Nest's router does it for a controller. So
 * `ContextIdFactory.getByRequest(request)` finds it, and an application's strategy finds the tenant of a durable provider.
 *
 * @throws Error if the strategy can't read the context of a task
 */
function contextOf(request: object, wrapper: InstanceWrapper, moduleRef: ModuleRef): ContextId {
  const id = idOf(request);
  if (Object.hasOwn(request, REQUEST_CONTEXT_ID)) return id;
  Object.defineProperty(request, REQUEST_CONTEXT_ID, { value: id });
  // The fields of a task's context stay: a payload may have an `id`, too.
  const payload = Object.entries(Object(id.payload) as object).filter(([key]) => !(key in request));
  const isShared = wrapper.isDependencyTreeDurable() && id.getParent !== undefined;
  const provided: unknown = isShared ? id.payload : Object.assign(request, Object.fromEntries(payload));
  moduleRef.registerRequestByContextId(provided, id);
  return id;
}

function idOf(request: object): ContextId {
  try {
    return ContextIdFactory.getByRequest(request as Record<string, unknown>);
  } catch (cause) {
    throw new Error(FAILED_STRATEGY(messageOf(cause)), { cause });
  }
}
