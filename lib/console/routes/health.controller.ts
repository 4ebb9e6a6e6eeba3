import { type Health, type HealthFault } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import type { Sees } from '../access/name-limit.js';
import { ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleResponse } from '../http/console-request.js';
import { Res, SeenNames } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';

/** Serves the health of this node: for people, alerts and `curl --fail`. */
@ConsoleController()
export class HealthController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.health)
  async health(@Res() response: ConsoleResponse, @SeenNames() sees: Sees): Promise<Health> {
    const health = await this.gatekeeper.checkHealth({ nodes: true });
    if (!health.grants) response.status(503);
    return sees ? { ...health, faults: health.faults.map(withoutNames) } : health;
  }
}

/** The sentences of some faults may name definitions, jobs, scopes or groups, which a limited visitor may not see. */
function withoutNames(fault: HealthFault): HealthFault {
  const what = WITH_NAMES[fault.code];
  const sentence = `${what}: use a token for all names, or see the log, for the reason`;
  return what === undefined ? fault : { ...fault, sentence };
}

const WITH_NAMES: Partial<Record<HealthFault['code'], string>> = {
  'semaphores-removed': 'semaphores were removed although the code defines them',
  'code-not-followed': 'stored definitions do not follow the code',
  'archive-failing': 'the archive of definitions fails',
  'run-archive-failing': 'the archive of runs fails',
  'no-leader': 'scopes of leadership have no leader',
  'resources-unowned': 'resources of allocation groups have no owner',
  'other-application': 'another application on this store uses names of this one',
  'allocation-failing': 'allocation groups have a problem on some node',
};
