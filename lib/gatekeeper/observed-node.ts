import { reservedNameFault } from '../decision/index.js';
import type { Parts } from './parts.js';
import type { ObservedNode } from './telemetry.js';

/** The node of these parts, as telemetry sees it. */
export function observedNode({ context, directory, health, cluster, allocation }: Parts): ObservedNode {
  const { node, events, nodeClock } = context;
  const candidates = () => [cluster, allocation.cluster].flatMap((each) => each.candidates);
  return {
    node,
    monotonic: () => nodeClock.monotonic(),
    events: events.asObservable(),
    isDeclared: (name) => directory.declared.has(name) || reservedNameFault(name) !== undefined,
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
