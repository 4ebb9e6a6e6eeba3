import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import type { DecoratedMethod } from './decorated-methods.js';

export type Call = (...args: unknown[]) => Promise<unknown>;

/** Calls a decorated method. A provider that is not static gets an instance per call: `REQUEST` is the first argument. */
export function callOf({ instance, property, wrapper, isStatic }: DecoratedMethod<unknown>): Call {
  return async (...args) => {
    const target = isStatic ? instance : await instanceFor(wrapper, args[0]);
    return (target as Record<string, Call>)[property]!(...args);
  };
}

function instanceFor(wrapper: InstanceWrapper, request: unknown): Promise<object> {
  // The module's own reference: another module may have a provider of the same token.
  const { instance: moduleRef } = wrapper.host!.getProviderByKey<ModuleRef>(ModuleRef);
  const context = ContextIdFactory.create();
  moduleRef.registerRequestByContextId(request, context);
  return moduleRef.resolve<object>(wrapper.token, context);
}
