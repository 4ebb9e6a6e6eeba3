import { type BulkResult, GatekeeperService, type MigrationPlan } from '../../gatekeeper/index.js';
import { type InputOf, type Preview, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, User } from '../http/input.decorator.js';
import { Serves } from '../http/serves.decorator.js';
import { previewOf } from './preview.js';

/** Changing many definitions at once, and trying one out. */
@ConsoleController()
export class BulkController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.preview)
  async preview(@Input() { body }: InputOf<typeof ROUTES.preview>): Promise<Preview> {
    return previewOf(body, await this.gatekeeper.registry.nodes(), this.gatekeeper.definitions);
  }

  @Serves(ROUTES.migrate)
  migrate(@Input() { body }: InputOf<typeof ROUTES.migrate>, @User() by: string): Promise<MigrationPlan> {
    const { dryRun, reason, limit, ...request } = body;
    const { definitions } = this.gatekeeper;
    return dryRun ? definitions.planMigration(request, { limit }) : definitions.migrate(request, { reason, limit, by });
  }

  @Serves(ROUTES.pauseAll)
  pauseAll(@Input() { body }: InputOf<typeof ROUTES.pauseAll>, @User() by: string): Promise<BulkResult> {
    return this.gatekeeper.definitions.pauseAll({ ...body, by });
  }

  @Serves(ROUTES.resumeAll)
  resumeAll(@Input() { body }: InputOf<typeof ROUTES.resumeAll>, @User() by: string): Promise<BulkResult> {
    return this.gatekeeper.definitions.resumeAll({ ...body, by });
  }
}
