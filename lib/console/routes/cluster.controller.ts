import { GatekeeperService } from '../../gatekeeper/index.js';
import { type AuditAnswer, type HistoryAnswer, type InputOf, type NodesAnswer, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input } from '../http/input.decorator.js';
import { Serves } from '../http/serves.decorator.js';
import { readAudit, readHistory } from './entries.js';
import { readNodes } from './nodes.js';

/** Which nodes live, what they ran, and who changed what. */
@ConsoleController()
export class ClusterController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.nodes)
  nodes(): Promise<NodesAnswer> {
    return readNodes(this.gatekeeper);
  }

  @Serves(ROUTES.history)
  async history(@Input() { query }: InputOf<typeof ROUTES.history>): Promise<HistoryAnswer> {
    return { entries: await readHistory(this.gatekeeper, query) };
  }

  @Serves(ROUTES.audit)
  async audit(@Input() { query }: InputOf<typeof ROUTES.audit>): Promise<AuditAnswer> {
    return { entries: await readAudit(this.gatekeeper, query) };
  }
}
