import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import { PROPERTY_DEPS_METADATA } from '@nestjs/common/constants.js';
import { InvalidOptionsError } from '../decision/index.js';
import { GATEKEEPER_PROPERTY } from './cluster-singleton.constants.js';
import { NOT_A_METHOD, STATIC_METHOD } from './cluster-singleton.messages.js';
import { GatekeeperService } from './gatekeeper.service.js';
import type { GuardedCall, Place } from './guarded-call.js';

type Method = (this: object, ...args: never[]) => unknown;

/** A decorator that guards methods. */
export interface Guard<M extends { readonly count: number }> {
  /** As users write it: "@ClusterSingleton". */
  readonly decorator: string;
  /** Key of its metadata on the method. */
  readonly key: symbol;
  /** The arguments of the decorator. */
  readonly metadata: Omit<M, 'count'>;
  /** Runs the method, or skips it. */
  readonly run: (call: GuardedCall, metadata: M) => Promise<unknown>;
}

/**
 * Makes a decorator that wraps a method and copies its metadata, so the order of decorators and of module imports does
 * not matter. Nest injects the gatekeeper of the application that made the instance.
 *
 * @throws InvalidOptionsError when it decorates something other than a method of instances
 */
export function guardMethod<M extends { readonly count: number }>(guard: Guard<M>): MethodDecorator {
  return (target, property, descriptor: PropertyDescriptor) => {
    const original = descriptor?.value as Method | undefined;
    checkTarget(guard.decorator, target, property, original);
    const former = Reflect.getMetadata(guard.key, original!) as M | undefined;
    const metadata = { ...guard.metadata, count: (former?.count ?? 0) + 1 } as M;
    descriptor.value = wrap(original!, { target, property }, { ...guard, metadata });
    injectGatekeeper(target);
  };
}

/** @throws InvalidOptionsError for a static method, or anything that is no method */
export function checkTarget(decorator: string, target: object, property: string | symbol, original: unknown): void {
  if (typeof original !== 'function')
    throw new InvalidOptionsError(decorator, [NOT_A_METHOD(decorator, String(property))]);
  if (typeof target !== 'function') return;
  throw new InvalidOptionsError(decorator, [STATIC_METHOD(decorator, `${target.name}.${String(property)}`)]);
}

function wrap<M extends { readonly count: number }>(
  original: Method,
  place: Place,
  { key, metadata, run }: Guard<M> & { readonly metadata: M },
): Method {
  const guarded: Method = function (...args) {
    return run({ instance: this, place, args, work: () => original.apply(this, args) }, metadata);
  };
  Object.defineProperty(guarded, 'name', { value: original.name });
  Object.defineProperty(guarded, 'length', { value: original.length });
  // Copies metadata that decorators below have put on the original (@Cron, a route, a guard).
  for (const other of Reflect.getMetadataKeys(original)) {
    Reflect.defineMetadata(other, Reflect.getMetadata(other, original), guarded);
  }
  Reflect.defineMetadata(key, metadata, guarded);
  return guarded;
}

/** Property injection also works for request-scoped and inherited instances, and uses the instance's own application. */
function injectGatekeeper(target: object): void {
  const properties = (Reflect.getMetadata(PROPERTY_DEPS_METADATA, target.constructor) ?? []) as { key: unknown }[];
  if (properties.some(({ key }) => key === GATEKEEPER_PROPERTY)) return;
  Inject(GatekeeperService)(target, GATEKEEPER_PROPERTY);
}
