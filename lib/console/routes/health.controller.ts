import { Res } from '@nestjs/common';
import { GatekeeperService, type Health } from '../../gatekeeper/index.js';
import { ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { ConsoleResponse } from '../http/console-request.js';
import { Serves } from '../http/serves.decorator.js';

/** Whether permits are granted through this node: for people, for alerts and for `curl --fail`. */
@ConsoleController()
export class HealthController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.health)
  async health(@Res({ passthrough: true }) response: ConsoleResponse): Promise<Health> {
    const health = await this.gatekeeper.checkHealth();
    if (!health.grants) response.status(503);
    return health;
  }
}
