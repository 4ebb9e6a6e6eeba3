import 'reflect-metadata';
import { Inject } from '@nestjs/common';
import { PROPERTY_DEPS_METADATA } from '@nestjs/common/constants.js';
import { InvalidOptionsError } from '../core/decision/index.js';
import { GatekeeperService } from './gatekeeper.service.js';
import { GATEKEEPER_PROPERTY, type Guard, type Place, runGuarded } from './guarded-call.js';
import { GENERATOR, LAZY, NOT_A_METHOD, STANDARD_DECORATOR, STATIC_METHOD, SYMBOL_METHOD } from './messages.js';

/* Makes the decorators of methods: those that mark a method for an explorer, and those that guard it. */

/** A decorator for methods that can be called as `F`. */
export type DecoratorFor<F> = <Method extends F>(
  target: object,
  property: string | symbol,
  descriptor: TypedPropertyDescriptor<Method>,
) => void;

/** The compiler names this type where a method's type hides that a skipped call resolves to undefined. */
export interface SkippedCallResolvesToUndefined {
  /** How to mend it. */
  readonly remedy: "let the method return Promise<T | undefined>, or give the option onSkip: 'throw'";
}

/** The compiler names this type where a guarded method returns no promise. */
export interface GuardedMethodMustBeAsync {
  /** How to mend it. */
  readonly remedy: 'a call of a guarded method always returns a promise: make the method async';
}

/** The fault of the type of a guarded method; never if there is none, or if the type is `any`. */
export type GuardFault<Method, Skip> = 0 extends 1 & Method
  ? never
  : Method extends (...args: never[]) => infer Result
    ? unknown extends Result
      ? never
      : [Result] extends [PromiseLike<infer Value>]
        ? [Value] extends [never]
          ? never
          : undefined extends Value
            ? never
            : Skip extends 'throws'
              ? never
              : SkippedCallResolvesToUndefined
        : GuardedMethodMustBeAsync
    : never;

/**
 * A decorator of methods that return a promise. If skipped calls resolve to undefined, the compiler refuses a method whose
 * promise has no undefined. The second signature makes it a `MethodDecorator`, for `applyDecorators` of Nest.
 *
 * @typeParam Skip result of a skipped call: `undefined` is a value, `throws` an error
 */
export interface GuardDecorator<Skip extends 'undefined' | 'throws'> {
  <Method>(
    target: object,
    property: string | symbol,
    descriptor: TypedPropertyDescriptor<Method> & ([GuardFault<Method, Skip>] extends [never] ? never : unknown),
  ): GuardFault<Method, Skip>;
  <Method>(target: object, property: string | symbol, descriptor: TypedPropertyDescriptor<Method>): void;
}

/**
 * Makes a decorator that adds an entry to a list in the metadata of a method. An explorer finds it when the application boots.
 *
 * @param decorator as users write it: "@TaskHandler"
 * @param key of the list
 * @throws InvalidOptionsError when it decorates something other than a method of instances
 */
export function markMethod<M>(decorator: string, key: symbol, entry: M): MethodDecorator {
  return (target, property, descriptor: PropertyDescriptor) => {
    const method = descriptor?.value as object;
    checkTarget(decorator, target, property, method);
    const others = (Reflect.getMetadata(key, method) ?? []) as M[];
    Reflect.defineMetadata(key, [...others, entry], method);
  };
}

type Method = (this: object, ...args: never[]) => unknown;

/** Metadata that each guard keeps besides the arguments of its decorator. */
interface Kept {
  /** Number of decorators of this kind on the method. */
  readonly count: number;
  /** Number of parameters of the method that it wraps. */
  readonly parameters: number;
}

/**
 * Makes a decorator that wraps a method and copies its metadata, so the order of decorators and of module imports does
 * not matter. Nest injects the gatekeeper of the application that made the instance.
 *
 * @param given the arguments of the decorator
 * @throws InvalidOptionsError when it decorates something other than a method of instances
 */
export function guardMethod<M extends Kept>(guard: Guard<M>, given: Omit<M, keyof Kept>): MethodDecorator {
  return (target, property, descriptor: PropertyDescriptor) => {
    const original = descriptor?.value as Method | undefined;
    checkTarget(guard.decorator, target, property, original);
    const former = Reflect.getMetadata(guard.key, original!) as M | undefined;
    const metadata = { ...given, count: (former?.count ?? 0) + 1, parameters: original!.length } as M;
    descriptor.value = wrap(original!, { target, property }, guard, metadata);
    injectGatekeeper(target);
  };
}

/** @throws InvalidOptionsError for a method that Nest does not find, or that does not run when it is called */
function checkTarget(decorator: string, target: object, property: string | symbol, original: unknown): void {
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

function wrap<M>(original: Method, place: Place, guard: Guard<M>, metadata: M): Method {
  const guarded: Method = function (...args) {
    const work = () => begun(original.apply(this, args), guard.decorator, place);
    return runGuarded(guard, { instance: this, place, args, work }, metadata);
  };
  Object.defineProperty(guarded, 'name', { value: original.name });
  Object.defineProperty(guarded, 'length', { value: original.length });
  // Copies metadata that decorators below have put on the original (@Cron, a route, a guard).
  for (const other of Reflect.getMetadataKeys(original)) {
    Reflect.defineMetadata(other, Reflect.getMetadata(other, original), guarded);
  }
  Reflect.defineMetadata(guard.key, metadata, guarded);
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
