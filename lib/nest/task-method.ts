import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { CLUSTER_SINGLETON } from './cluster-singleton.constants.js';
import { LEADERS_TASK, QUIET_SKIP, REQUEST_SCOPED_CONTROLLER } from './cluster-singleton.messages.js';
import type { ClusterSingletonMetadata } from './cluster-singleton.metadata.js';
import type { DecoratedMethod } from './decorated-methods.js';
import { preparedHandler } from '../tasks/index.js';
import { LEADER_ONLY } from './leader-only.metadata.js';

export type Call = (...args: unknown[]) => Promise<unknown>;

/** Calls a decorated method. A provider that is not static gets an instance per call: `REQUEST` is the first argument. */
export function callOf({ instance, property, wrapper, isStatic }: DecoratedMethod<unknown>): Call {
  const call = (target: unknown, args: readonly unknown[]) => (target as Record<string, Call>)[property]!(...args);
  if (isStatic) return async (...args) => call(instance, args);
  return preparedHandler(async (...args) => {
    const target = await instanceFor(wrapper, args[0]);
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

function instanceFor(wrapper: InstanceWrapper, request: unknown): Promise<object> {
  // The module's own reference: another module may have a provider of the same token.
  const { instance: moduleRef } = wrapper.host!.getProviderByKey<ModuleRef>(ModuleRef);
  const context = ContextIdFactory.create();
  moduleRef.registerRequestByContextId(request, context);
  return moduleRef.resolve<object>(wrapper.token, context);
}
