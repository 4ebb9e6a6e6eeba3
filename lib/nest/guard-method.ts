import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import { PROPERTY_DEPS_METADATA } from '@nestjs/common/constants.js';
import { InvalidOptionsError } from '../core/decision/index.js';
import { GATEKEEPER_PROPERTY } from './cluster-singleton.metadata.js';
import {
  GENERATOR,
  LAZY,
  NOT_A_METHOD,
  STANDARD_DECORATOR,
  STATIC_METHOD,
  SYMBOL_METHOD,
} from './cluster-singleton.messages.js';
import { GatekeeperService } from './gatekeeper.service.js';
import type { GuardedCall, Place } from './guarded-call.js';

type Method = (this: object, ...args: never[]) => unknown;

/** Metadata that each guard keeps besides the arguments of its decorator. */
interface Kept {
  /** Number of decorators of this kind on the method. */
  readonly count: number;
  /** Number of parameters of the method that it wraps. */
  readonly parameters: number;
}

/** A decorator that guards methods. */
export interface Guard<M extends Kept> {
  /** As users write it: "@ClusterSingleton". */
  readonly decorator: string;
  /** Key of its metadata on the method. */
  readonly key: symbol;
  /** The arguments of the decorator. */
  readonly metadata: Omit<M, keyof Kept>;
  /** Runs the method, or skips it. */
  readonly run: (call: GuardedCall, metadata: M) => Promise<unknown>;
}

/**
 * Makes a decorator that wraps a method and copies its metadata, so the order of decorators and of module imports does
 * not matter. Nest injects the gatekeeper of the application that made the instance.
 *
 * @throws InvalidOptionsError when it decorates something other than a method of instances
 */
export function guardMethod<M extends Kept>(guard: Guard<M>): MethodDecorator {
  return (target, property, descriptor: PropertyDescriptor) => {
    const original = descriptor?.value as Method | undefined;
    checkTarget(guard.decorator, target, property, original);
    const former = Reflect.getMetadata(guard.key, original!) as M | undefined;
    const metadata = { ...guard.metadata, count: (former?.count ?? 0) + 1, parameters: original!.length } as M;
    descriptor.value = wrap(original!, { target, property }, { ...guard, metadata });
    injectGatekeeper(target);
  };
}

/** @throws InvalidOptionsError for a method that Nest does not find, or that does not run when it is called */
export function checkTarget(decorator: string, target: object, property: string | symbol, original: unknown): void {
  const fault = faultOf(decorator, target, property, original);
  if (fault) throw new InvalidOptionsError(decorator, [fault]);
}

function faultOf(decorator: string, target: object, property: string | symbol, original: unknown): string | undefined {
  // Of the proposal of ECMAScript: the second argument is the context of the decorator.
  if (typeof property === 'object') return STANDARD_DECORATOR(decorator);
  const name = String(property);
  if (typeof original !== 'function') return NOT_A_METHOD(decorator, name);
  if (typeof target === 'function') return STATIC_METHOD(decorator, `${target.name}.${name}`);
  const method = `${target.constructor.name}.${name}`;
  if (typeof property === 'symbol') return SYMBOL_METHOD(decorator, method);
  return isGenerator(original) ? GENERATOR(decorator, method) : undefined;
}

function isGenerator(method: object): boolean {
  return /Generator/.test(Object.prototype.toString.call(method));
}

function wrap<M extends Kept>(
  original: Method,
  place: Place,
  { decorator, key, metadata, run }: Guard<M> & { readonly metadata: M },
): Method {
  const guarded: Method = function (...args) {
    const work = () => begun(original.apply(this, args), decorator, place);
    return run({ instance: this, place, args, work }, metadata);
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

/** @throws InvalidOptionsError for an Observable, also of a promise: its work would begin after the run, without the permit */
async function begun(result: unknown, decorator: string, { target, property }: Place): Promise<unknown> {
  const value = await result;
  const { subscribe, pipe } = Object(value) as { readonly subscribe?: unknown; readonly pipe?: unknown };
  if (typeof subscribe !== 'function' || typeof pipe !== 'function') return value;
  throw new InvalidOptionsError(decorator, [LAZY(`${target.constructor.name}.${String(property)}`)]);
}

/** Property injection also works for request-scoped and inherited instances, and uses the instance's own application. */
function injectGatekeeper(target: object): void {
  const properties = (Reflect.getMetadata(PROPERTY_DEPS_METADATA, target.constructor) ?? []) as { key: unknown }[];
  if (properties.some(({ key }) => key === GATEKEEPER_PROPERTY)) return;
  Inject(GatekeeperService)(target, GATEKEEPER_PROPERTY);
}
