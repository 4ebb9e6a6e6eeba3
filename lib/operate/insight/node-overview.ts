import type { NodeInfo } from '../activity/index.js';
import type { Pieces } from '../../core/async/slices.js';
import { groupedInPieces } from './grouped.js';
import type { SemaphoreOverview } from './overview.js';

/** A permit that a node holds. */
export interface HeldPermit {
  /** Name of the semaphore. */
  readonly semaphore: string;
  readonly slot: number;
  /** Fencing token. */
  readonly token: number;
  /** Cluster time, ms since the epoch. */
  readonly expiresAt: number;
}

/** A living node, and the permits that it holds. */
export interface NodeOverview extends NodeInfo {
  /** Its permits that have not expired. */
  readonly holds: readonly HeldPermit[];
}

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
