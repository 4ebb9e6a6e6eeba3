import { TASK_PREFIX, reservedNameFault } from '../core/decision/index.js';
import { HandledTypes } from './handled-types.js';
import type { Parts } from './parts.js';
import type { ObservedNode } from './telemetry.js';

/** The node of these parts, as telemetry sees it. */
export function observedNode({
  context,
  directory,
  health,
  cluster,
  allocation,
  tasks,
  registry,
}: Parts): ObservedNode {
  const { node, events, nodeClock } = context;
  const handled = new HandledTypes(context, registry, (type) => tasks.isOfCode(type));
  const isDeclared = (name: string) => directory.declared.has(name);
  const isHandled = (type: string) => isDeclared(TASK_PREFIX + type) || handled.has(type);
  const isMade = (name: string) =>
    name.startsWith(TASK_PREFIX) ? isHandled(name.slice(TASK_PREFIX.length)) : reservedNameFault(name) !== undefined;
  const candidates = () => [cluster, allocation.cluster].flatMap((each) => each.candidates);
  return {
    node,
    monotonic: () => nodeClock.monotonic(),
    events: events.asObservable(),
    isDeclared: (name) => isDeclared(name) || isMade(name),
    isHandled,
    held: () =>
      new Map([...directory.inUse].map(([name, { heldLeases }]) => [name, heldLeases.leases.filter(isHeld).length])),
    health: () => health.report(),
    leading: () =>
      new Map(candidates().flatMap((each) => (each.isStarted ? [[each.scope, each.term !== undefined]] : []))),
    owned: () => new Map(allocation.groups.map((group) => [group.name, group.owned().length])),
  };
}

function isHeld({ isHeld: held }: { readonly isHeld: boolean }): boolean {
  return held;
}
