import type { NodeInfo } from '../activity/index.js';
import type { Pieces } from '../../core/async/slices.js';
import { groupedInPieces } from './grouped.js';
import type { SemaphoreOverview, HeldPermit, NodeOverview } from './semaphore-answers.js';

/** Adds the held permits to each node. */
export function* withHeldPermits(
  nodes: readonly NodeInfo[],
  semaphores: readonly SemaphoreOverview[],
): Pieces<NodeOverview[]> {
  const held = yield* groupedInPieces(heldPermitsIn(semaphores), ([instance]) => instance);
  return nodes.map((node) => ({ ...node, holds: (held.get(node.instance) ?? []).map(([, holding]) => holding) }));
}

function* heldPermitsIn(semaphores: readonly SemaphoreOverview[]): Generator<[instance: string, HeldPermit]> {
  for (const { name, holders } of semaphores) {
    for (const { instance, slot, token, expiresAt, remaining } of holders) {
      if (remaining > 0) yield [instance, { semaphore: name, slot, token, expiresAt }];
    }
  }
}
