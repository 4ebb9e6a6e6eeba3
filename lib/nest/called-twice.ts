import { DiscoveryService, type ModulesContainer } from '@nestjs/core';
import { SEVERAL_INSTANCES, SEVERAL_SCHEDULERS } from './messages.js';
import { findRegistries } from './cron-jobs.js';
import type { DecoratedMethod } from './decorated-methods.js';
import { isOfClass } from './firings.js';

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
