import type { NodeInfo } from '../activity/index.js';
import type { SemaphoreOverview } from './overview.js';

/** A permit that a node holds. */
export interface HeldPermit {
  readonly semaphore: string;
  readonly slot: number;
  readonly token: number;
  /** Cluster time in ms. */
  readonly expiresAt: number;
}

/** A node that lives, and what it holds. */
export interface NodeOverview extends NodeInfo {
  readonly holds: readonly HeldPermit[];
}

/** Each node with what it holds now. */
export function withHoldings(nodes: readonly NodeInfo[], semaphores: readonly SemaphoreOverview[]): NodeOverview[] {
  const held = holdingsByInstance(semaphores);
  return nodes.map((node) => ({ ...node, holds: held.get(node.instance) ?? [] }));
}

function holdingsByInstance(semaphores: readonly SemaphoreOverview[]): Map<string, HeldPermit[]> {
  const held = new Map<string, HeldPermit[]>();
  for (const { name, holders } of semaphores) {
    for (const { instance, slot, token, expiresAt, remaining } of holders) {
      if (remaining <= 0) continue;
      const holdings = held.get(instance) ?? [];
      held.set(instance, [...holdings, { semaphore: name, slot, token, expiresAt }]);
    }
  }
  return held;
}
