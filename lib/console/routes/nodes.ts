import type { GatekeeperService, SemaphoreOverview } from '../../gatekeeper/index.js';
import type { HeldPermit, NodeOverview } from '../api/index.js';

/** The nodes that live, each with what it holds. */
export async function readNodes(gatekeeper: GatekeeperService): Promise<{ now: number; nodes: NodeOverview[] }> {
  const { now, nodes, semaphores } = await gatekeeper.overview();
  return { now, nodes: nodes.map((node) => ({ ...node, holds: holdsOf(node.instance, semaphores) })) };
}

function holdsOf(instance: string, semaphores: readonly SemaphoreOverview[]): HeldPermit[] {
  return semaphores.flatMap(({ name, holders }) =>
    holders
      .filter((holder) => holder.instance === instance && holder.remaining > 0)
      .map(({ slot, token, expiresAt }) => ({ semaphore: name, slot, token, expiresAt })),
  );
}
