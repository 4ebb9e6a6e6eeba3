import { GatekeeperService, newestFirst, withHoldings } from '../../gatekeeper/index.js';
import { type AuditAnswer, type HistoryAnswer, type InputOf, type NodesAnswer, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input } from '../http/input.decorator.js';
import { Serves } from '../http/serves.decorator.js';

/** Which nodes live, what they ran, and who changed what. */
@ConsoleController()
export class ClusterController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.nodes)
  async nodes(): Promise<NodesAnswer> {
    const { now, nodes, semaphores, stale } = await this.gatekeeper.overview();
    return { now, nodes: withHoldings(nodes, semaphores), stale };
  }

  @Serves(ROUTES.history)
  async history(@Input() { query }: InputOf<typeof ROUTES.history>): Promise<HistoryAnswer> {
    return { entries: await newestFirst(query, (limit) => this.gatekeeper.history(limit)) };
  }

  @Serves(ROUTES.audit)
  async audit(@Input() { query }: InputOf<typeof ROUTES.audit>): Promise<AuditAnswer> {
    return { entries: await newestFirst(query, (limit) => this.gatekeeper.audit.read(limit)) };
  }
}
