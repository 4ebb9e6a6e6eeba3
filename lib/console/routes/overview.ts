import type { GatekeeperService } from '../../gatekeeper/index.js';
import type { HeldPermit, NodeOverview, SemaphoreOverview } from '../api/index.js';

/** What one looks at first. */
export interface Overview {
  readonly now: number;
  readonly semaphores: readonly SemaphoreOverview[];
  readonly nodes: readonly NodeOverview[];
}

export async function readOverview(gatekeeper: GatekeeperService): Promise<Overview> {
  const [{ semaphores }, nodes] = await Promise.all([gatekeeper.state(), gatekeeper.roster.nodes().catch(() => [])]);
  return {
    now: Date.now(),
    semaphores: semaphores.map((semaphore) => ({ ...semaphore, tasks: [], warnings: [] })),
    nodes: nodes.map((node) => ({ ...node, holds: holdsOf(node.instance, semaphores) })),
  };
}

function holdsOf(instance: string, semaphores: readonly Pick<SemaphoreOverview, 'name' | 'holders'>[]): HeldPermit[] {
  return semaphores.flatMap(({ name, holders }) =>
    holders
      .filter((holder) => holder.instance === instance && holder.remaining > 0)
      .map(({ slot, token, expiresAt }) => ({ semaphore: name, slot, token, expiresAt })),
  );
}
