import { Res } from '@nestjs/common';
import { type Health, type HealthFault } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import type { Sees } from '../access/name-limit.js';
import { ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleResponse } from '../http/console-request.js';
import { SeenNames } from '../http/input.decorator.js';
import { Serves } from '../http/serves.decorator.js';

/** Serves the health of this node: for people, alerts and `curl --fail`. */
@ConsoleController()
export class HealthController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.health)
  async health(@Res({ passthrough: true }) response: ConsoleResponse, @SeenNames() sees: Sees): Promise<Health> {
    const health = await this.gatekeeper.checkHealth({ nodes: true });
    if (!health.grants) response.status(503);
    return sees ? { ...health, faults: health.faults.map(withoutNames) } : health;
  }
}

/** Faults of an archive may name definitions or jobs, which a limited visitor may not see. */
function withoutNames(fault: HealthFault): HealthFault {
  const archive = ARCHIVES[fault.code];
  const sentence = `the archive of ${archive} fails: use a token for all names, or see the log, for the reason`;
  return archive === undefined ? fault : { ...fault, sentence };
}

const ARCHIVES: Partial<Record<HealthFault['code'], string>> = {
  'archive-failing': 'definitions',
  'run-archive-failing': 'runs',
};
