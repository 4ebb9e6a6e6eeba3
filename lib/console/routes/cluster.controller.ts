import { inSlices } from '../../core/async/slices.js';
import { systemClock } from '../../core/async/node-clock.js';
import { TASK_PREFIX } from '../../core/decision/index.js';
import { type NodeOverview, newestFirst, withHeldPermits } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { type AuditAnswer, type InputOf, type NodesAnswer, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { Sees } from '../http/visitor.js';
import { Input, SeenNames } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';

/** Serves the living nodes, and the audit log. */
@ConsoleController()
export class ClusterController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.nodes)
  async nodes(@SeenNames() sees: Sees): Promise<NodesAnswer> {
    const { now, nodes, semaphores, stale } = await this.gatekeeper.overview();
    const all = await inSlices(withHeldPermits(nodes, semaphores), systemClock);
    return { now, nodes: sees ? all.map((node) => seenOf(node, sees)) : all, stale };
  }

  @Serves(ROUTES.audit)
  async audit(@Input() { query }: InputOf<typeof ROUTES.audit>, @SeenNames() only: Sees): Promise<AuditAnswer> {
    return { entries: await newestFirst(query, (limit) => this.gatekeeper.audit.read(limit), only) };
  }
}

/** The part of a node that a limited visitor may see. Leaves out jobs whose semaphore is known only at a call. */
function seenOf(node: NodeOverview, sees: (name: string) => boolean): NodeOverview {
  const holds = node.holds.filter(({ semaphore }) => sees(semaphore));
  const jobs = node.jobs.filter(({ semaphore }) => semaphore !== undefined && sees(semaphore));
  const { tasks, ...others } = node;
  const types = tasks?.filter(({ type }) => sees(TASK_PREFIX + type)) ?? [];
  return {
    ...others,
    holds,
    jobs,
    ...(types.length > 0 && { tasks: types }),
  };
}
