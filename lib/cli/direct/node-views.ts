import type { NodeCard, SemaphoreOverview } from '../../gatekeeper/index.js';
import type { NodeView } from '../operator.js';

type Holding = NodeView['holds'][number];

/** Each node with what it holds now. */
export function withHoldings(nodes: readonly NodeCard[], semaphores: readonly SemaphoreOverview[]): NodeView[] {
  const held = holdingsByInstance(semaphores);
  return nodes.map((node) => ({ ...node, holds: held.get(node.instance) ?? [] }));
}

function holdingsByInstance(semaphores: readonly SemaphoreOverview[]): Map<string, Holding[]> {
  const held = new Map<string, Holding[]>();
  for (const { name, holders } of semaphores) {
    for (const { instance, slot, token, expiresAt, remaining } of holders) {
      if (remaining <= 0) continue;
      const holdings = held.get(instance) ?? [];
      held.set(instance, [...holdings, { semaphore: name, slot, token, expiresAt }]);
    }
  }
  return held;
}
