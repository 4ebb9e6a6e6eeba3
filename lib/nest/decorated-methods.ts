import { Inject, Injectable } from '@nestjs/common';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { FORMAT, formatOf, incompatibleVersions } from '../core/copies/shared.js';
import { VERSION } from '../core/copies/version.js';
import { OTHER_FORMAT } from './messages.js';
import { type ScheduleMetadata, scheduleOf } from './scheduler.js';

/** A method with metadata of one of the package's decorators. */
export interface DecoratedMethod<M> {
  /** "JobsService.export" */
  readonly method: string;
  /** Name of the method in its class. */
  readonly property: string;
  /** The class: that of the instance, if there is one. A value of the application may have none, then `Object`. */
  readonly type: { readonly name: string };
  /** Number of its parameters, as far as it can be seen: decorators may wrap it in a method that shows none. */
  readonly parameters: number;
  /** The function, which has the metadata of all its decorators. */
  readonly decorated: object;
  /** The provider's only instance. Undefined, or an empty object, if Nest makes one per request or per use. */
  readonly instance: object | undefined;
  readonly metadata: M;
  /** The provider or controller. */
  readonly wrapper: InstanceWrapper;
  /** Whether there is one instance from the start; else @nestjs/schedule can't run the method. */
  readonly isStatic: boolean;
  /** When @nestjs/schedule runs it, if it does. */
  readonly schedule?: ScheduleMetadata;
}

/** Finds methods of the application by the metadata of a decorator. */
@Injectable()
export class DecoratedMethods {
  /** Names of the methods that have any metadata, by prototype: a large application has many methods, and few decorated ones. */
  readonly #decorated = new WeakMap<object, readonly string[]>();

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(MetadataScanner) private readonly scanner: MetadataScanner,
  ) {}

  /** All methods with the metadata `key`, each once per instance. */
  find<M>(key: symbol): DecoratedMethod<M>[] {
    const wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()];
    const methods = wrappers.flatMap((wrapper) => this.#methodsOf<M>(wrapper, key));
    return distinct(methods, (one, other) => one.instance === other.instance);
  }

  /** A sentence for each method whose decorator comes from a version of this package that does not work together with this one. */
  faultsOfOtherFormats(): string[] {
    const wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()];
    const prototypes = new Set(wrappers.flatMap((wrapper) => prototypeOfAny(wrapper) ?? []));
    return [...prototypes].flatMap((prototype) =>
      this.#decoratedOf(prototype).flatMap((name) => otherFormatFaults(prototype, name)),
    );
  }

  #methodsOf<M>(wrapper: InstanceWrapper, key: symbol): DecoratedMethod<M>[] {
    const instance = wrapper.instance as object | undefined;
    const isStatic = isStaticIn(wrapper);
    const prototype = prototypeOfAny(wrapper);
    if (!prototype) return [];
    return this.#decoratedOf(prototype).flatMap((property) => {
      const found = metadataOf<M>(prototype, property, key);
      // Named after the class: the token of a provider may be a symbol, or another name for the same instance.
      const type = classOf(prototype);
      const method = `${type.name}.${property}`;
      return found ? [{ method, property, type, instance, wrapper, isStatic, ...found }] : [];
    });
  }

  #decoratedOf(prototype: object): readonly string[] {
    const known = this.#decorated.get(prototype);
    if (known) return known;
    const names = this.scanner.getAllMethodNames(prototype);
    const decorated = names.filter((name) => Reflect.getMetadataKeys(methodOf(prototype, name)).length > 0);
    this.#decorated.set(prototype, decorated);
    return decorated;
  }
}

/** A transient provider has only an empty prototype here, on which nothing may run. */
function isStaticIn(wrapper: InstanceWrapper): boolean {
  return wrapper.isDependencyTreeStatic() && !wrapper.isTransient;
}

function prototypeOfAny(wrapper: InstanceWrapper): object | undefined {
  return prototypeOf(wrapper.instance) ?? prototypeOfLater(wrapper, isStaticIn(wrapper));
}

function otherFormatFaults(prototype: object, name: string): string[] {
  const formats = new Set(Reflect.getMetadataKeys(methodOf(prototype, name)).map(formatOf));
  const others = [...formats].filter((format) => format !== undefined && format !== FORMAT);
  const method = `${classOf(prototype).name}.${name}`;
  return others.map((format) => OTHER_FORMAT(method, VERSION, incompatibleVersions(format)));
}

/** The prototype of a value that the application gave may have no constructor. */
function classOf({ constructor }: { readonly constructor?: unknown }): { readonly name: string } {
  return typeof constructor === 'function' ? constructor : Object;
}

function prototypeOf(instance: unknown): object | undefined {
  return typeof instance === 'object' && instance !== null ? (Object.getPrototypeOf(instance) as object) : undefined;
}

/**
 * The prototype of instances that Nest makes later. A factory hides its class: it is taken to return instances of the token's.
 * A static factory has already returned something else, and an alias shows another provider.
 */
function prototypeOfLater({ metatype, token, isFactory, isAlias }: InstanceWrapper, isStatic: boolean) {
  if (!isFactory) return (metatype as { prototype?: object } | null)?.prototype;
  return isStatic || isAlias ? undefined : (token as { prototype?: object }).prototype;
}

function metadataOf<M>(prototype: object, name: string, key: symbol) {
  const method = methodOf(prototype, name);
  const metadata = Reflect.getMetadata(key, method) as M | undefined;
  const schedule = metadata && scheduleOf(method);
  if (!metadata) return undefined;
  const parameters = parametersOf(prototype, name, method);
  return { metadata, decorated: method, parameters, ...(schedule && { schedule }) };
}

/** TypeScript lists the types of all parameters of a decorated method, if `emitDecoratorMetadata` is on. */
function parametersOf(prototype: object, name: string, method: () => unknown): number {
  const types = Reflect.getMetadata('design:paramtypes', prototype, name) as readonly unknown[] | undefined;
  return Math.max(method.length, types?.length ?? 0);
}

/**
 * Methods of one class may be found twice: two tokens show one instance (useExisting), or two modules have an instance.
 *
 * @param isSame whether two findings of one method count once
 */
export function distinct<M extends Pick<DecoratedMethod<unknown>, 'method' | 'metadata'>>(
  methods: readonly M[],
  isSame: (one: M, other: M) => boolean = () => true,
): M[] {
  return methods.filter(
    (one, index) =>
      methods.findIndex(
        (other) => other.method === one.method && other.metadata === one.metadata && isSame(one, other),
      ) === index,
  );
}

/** Finds methods without calling getters of the instance. */
function methodOf(prototype: object, name: string): () => unknown {
  let owner = prototype;
  while (!Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner) as object;
  return Object.getOwnPropertyDescriptor(owner, name)?.value as () => unknown;
}
