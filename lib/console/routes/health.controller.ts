import { type Health, type HealthFault } from '../../gatekeeper/index.js';
import { FAULT_TITLES } from '../../operate/insight/fault-titles.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import type { Sees } from '../http/visitor.js';
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
    const health = await this.gatekeeper.checkHealth({ nodes: true, warnings: sees ?? true });
    if (!health.grants) response.status(503);
    return sees ? { ...health, faults: health.faults.map(withoutNames) } : health;
  }
}

/** The sentences of some faults may name definitions, jobs, scopes or groups, which a limited visitor may not see. */
function withoutNames(fault: HealthFault): HealthFault {
  if (!WITH_NAMES.has(fault.code)) return fault;
  return {
    ...fault,
    sentence: `${FAULT_TITLES[fault.code]}: use a token for all names, or see the log, for the reason`,
  };
}

const WITH_NAMES: ReadonlySet<HealthFault['code']> = new Set([
  'semaphores-removed',
  'code-not-followed',
  'archive-failing',
  'run-archive-failing',
  'no-leader',
  'resources-unowned',
  'other-application',
  'allocation-failing',
]);
