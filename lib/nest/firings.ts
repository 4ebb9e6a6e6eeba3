import { AsyncLocalStorage } from 'node:async_hooks';
import { Inject, Injectable, Module, type OnModuleInit } from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, ModulesContainer } from '@nestjs/core';
import type { InstanceWrapper } from '@nestjs/core/injector/instance-wrapper.js';
import { systemClock } from '../core/async/node-clock.js';
import { readTicks } from '../core/cron/ticks.js';
import type { DecoratedMethod } from './decorated-methods.js';
import { type GuardedCall, isGuarded } from './guarded-call.js';
import { setDistance } from './lifecycle.module.js';
import { SEVERAL_INSTANCES, SEVERAL_SCHEDULERS } from './messages.js';
import { type ScheduleMetadata, findRegistries, isDate, scheduleOf, zoneOf } from './scheduler.js';

/** ms by which a timer may fire before its planned time. It is less than the time between any two planned times. */
const EARLY = 250;
/** ms between two calls at one planned time, if that is unknown. */
const TOGETHER = 1000;

/** ms: each expression has a planned time in so long a time, or never comes. */
const LONGEST_AGE = 9 * 366 * 86_400_000;

/** Last firing and run of one registration of a method at @nestjs/schedule, in monotonic ms. */
export interface Registration {
  /** The last time that its timer fired. */
  firedAt: number;
  /** The last time that the method was begun for it. */
  ranAt: number;
  /** Name of the semaphore or the scope of that run. */
  name?: string;
}

/**
 * Whether another registration of the same method has begun it for this planned time. It has if that was after the former
 * firing of this one: each fires once per planned time. It has not if that was for an earlier one, because a registration may
 * have been stopped since. Pure.
 *
 * @param since when the planned time was, in monotonic ms
 */
export function isRepeated(own: Registration, others: readonly Registration[], name: string, since: number): boolean {
  return others.some((other) => other.name === name && other.ranAt > own.firedAt && other.ranAt >= since - EARLY);
}

/** A call of a method by @nestjs/schedule, while it goes on. */
interface Firing {
  readonly instance: object;
  readonly property: string;
  /** @param name of the semaphore, or of the scope. @returns false if another registration has begun the method */
  readonly begin: (name: string) => boolean;
  /** Calls by the method itself are direct ones. */
  isTaken: boolean;
}

const storage = new AsyncLocalStorage<Firing>();

/**
 * Whether a guarded call comes from @nestjs/schedule, and is the second one for its planned time in this process: the
 * scheduler is imported twice, or the class is provided twice. A direct call never is.
 *
 * @param name of the semaphore, or of the scope
 */
export function isSecondFiring({ instance, place }: Pick<GuardedCall, 'instance' | 'place'>, name: string): boolean {
  const firing = storage.getStore();
  if (!firing || firing.isTaken || firing.instance !== instance || firing.property !== place.property) return false;
  firing.isTaken = true;
  return !firing.begin(name);
}

/** The part of the class `ScheduleExplorer` of @nestjs/schedule that is used here. */
interface ScheduleExplorer {
  lookupSchedulers(instance: object, key: string): void;
}

/**
 * Marks the calls that come from @nestjs/schedule. Its explorers register methods in their hook, so this one comes first: see
 * {@link FiringsModule}.
 */
@Injectable()
class ScheduledFirings implements OnModuleInit {
  /** By class, or by instance if the application made it, and by the name of the method. */
  readonly #registrations = new Map<object, Map<string, Registration[]>>();
  /** Instances that Nest made of a class: two of them are one class that is provided twice. */
  readonly #ofClasses = new WeakSet<object>();

  constructor(@Inject(DiscoveryService) private readonly discovery: DiscoveryService) {}

  onModuleInit(): void {
    const wrappers = [...this.discovery.getControllers(), ...this.discovery.getProviders()];
    for (const wrapper of wrappers) if (isOfClass(wrapper)) this.#ofClasses.add(wrapper.instance as object);
    const explorers = new Set(wrappers.map(({ instance }) => instance as unknown).filter(isExplorer));
    for (const explorer of explorers) this.#mark(explorer);
  }

  /** Without the method, a later version registers methods in another way: then nothing is marked. */
  #mark(explorer: ScheduleExplorer): void {
    const lookup = explorer.lookupSchedulers.bind(explorer);
    explorer.lookupSchedulers = (instance, key) => lookup(this.#viewOf(instance, key), key);
  }

  /** The instance as the explorer sees it: a guarded method with a schedule is another function there. */
  #viewOf(instance: object, key: string): object {
    const method = (instance as Record<string, unknown>)[key];
    if (typeof method !== 'function' || !isGuarded(method)) return instance;
    const schedule = scheduleOf(method);
    if (!schedule) return instance;
    const fired = this.#fired(instance, key, method as (...args: unknown[]) => unknown, schedule);
    for (const each of Reflect.getMetadataKeys(method)) {
      Reflect.defineMetadata(each, Reflect.getMetadata(each, method), fired);
    }
    return Object.create(instance, { [key]: { value: fired } }) as object;
  }

  #fired(instance: object, property: string, method: (...args: unknown[]) => unknown, schedule: ScheduleMetadata) {
    const all = this.#of(this.#ofClasses.has(instance) ? instance.constructor : instance, property);
    const own: Registration = { firedAt: -Infinity, ranAt: -Infinity };
    all.push(own);
    let age: (() => number) | undefined;
    const begin = (name: string) => {
      const now = systemClock.monotonic();
      const others = all.filter((each) => each !== own);
      const isSecond = others.length > 0 && isRepeated(own, others, name, now - (age ??= ageOf(schedule))());
      own.firedAt = now;
      if (!isSecond) Object.assign(own, { ranAt: now, name });
      return !isSecond;
    };
    return (...args: unknown[]) =>
      storage.run({ instance, property, begin, isTaken: false }, () => method.apply(instance, args));
  }

  #of(owner: object, property: string): Registration[] {
    const methods = this.#registrations.get(owner) ?? new Map<string, Registration[]>();
    this.#registrations.set(owner, methods);
    const all = methods.get(property) ?? [];
    methods.set(property, all);
    return all;
  }
}

/** @returns a function that gives the ms since the planned time of a call that comes now */
function ageOf(schedule: ScheduleMetadata): () => number {
  const { kind, expression, utcOffset } = schedule;
  if (kind === 'timeout' || isDate(expression)) return () => Infinity;
  if (kind === 'interval') return () => Number(expression) - EARLY;
  const read = utcOffset === undefined ? readTicks(expression, zoneOf(schedule)) : { faults: [] };
  if ('faults' in read) return () => TOGETHER;
  return () => {
    const now = systemClock.wall();
    return now - read.ticks.latest(now - LONGEST_AGE, now + EARLY);
  };
}

/** Whether Nest made the instance of a class, and not the application: by a factory, or as a value. */
function isOfClass({ instance, metatype, isFactory, isAlias }: InstanceWrapper): boolean {
  return typeof instance === 'object' && instance !== null && typeof metatype === 'function' && !isFactory && !isAlias;
}

/** Looks at the class, because getters of other providers must not run. In a minified bundle it has another name. */
function isExplorer(instance: unknown): instance is ScheduleExplorer {
  if (typeof instance !== 'object' || instance === null) return false;
  const prototype = Object.getPrototypeOf(instance) as object | null;
  return prototype !== null && ['explore', 'lookupSchedulers'].every((method) => Object.hasOwn(prototype, method));
}

type Found = Pick<DecoratedMethod<unknown>, 'type' | 'instance' | 'wrapper' | 'isStatic' | 'schedule'>;

/** A sentence for each reason why @nestjs/schedule calls guarded methods more than once per planned time on this node. */
export function calledTwice(
  methods: readonly Found[],
  discovery: DiscoveryService,
  modules: ModulesContainer,
): readonly string[] {
  const scheduled = methods.filter(({ isStatic, schedule }) => isStatic && schedule);
  return scheduled.length === 0 ? [] : [...severalSchedulers(discovery, modules), ...severalInstances(scheduled)];
}

function severalSchedulers(discovery: DiscoveryService, modules: ModulesContainer): string[] {
  const registries = findRegistries(discovery);
  if (registries.length < 2) return [];
  const scheduleModules = new Set<unknown>(registries.map(({ host }) => host?.metatype));
  // A global module counts as an import of all modules, so what the decorator says is read.
  const importers = [...modules.values()].filter(({ metatype }) =>
    importsOf(metatype).some((each) => scheduleModules.has(each)),
  );
  return [SEVERAL_SCHEDULERS(registries.length, [...new Set(importers.map(({ name }) => name))])];
}

/** Modules in the decorator of a module. Those of a dynamic module are not seen. */
function importsOf(type: object): unknown[] {
  const imports = (Reflect.getMetadata('imports', type) ?? []) as readonly unknown[];
  return imports.map((each) => (each as { readonly module?: unknown } | undefined)?.module ?? each);
}

function severalInstances(methods: readonly Found[]): string[] {
  const byClass = new Map<Found['type'], Map<unknown, string>>();
  for (const { type, instance, wrapper } of methods) {
    if (!isOfClass(wrapper)) continue;
    const places = byClass.get(type) ?? new Map<unknown, string>();
    byClass.set(type, places.set(instance, wrapper.host?.name ?? 'a module'));
  }
  return [...byClass].flatMap(([{ name }, places]) =>
    places.size > 1 ? [SEVERAL_INSTANCES(name, [...places.values()])] : [],
  );
}

/** Imports the part that must come before all parts of the application in the boot. */
@Module({ imports: [DiscoveryModule], providers: [ScheduledFirings] })
export class FiringsModule {
  constructor(@Inject(ModulesContainer) modules: ModulesContainer) {
    setDistance(modules, FiringsModule, Infinity);
  }
}
