import { systemClock } from '../../clock/index.js';
import { inSlices } from '../../gatekeeper/concurrency/slices.js';
import { type BulkResult, GatekeeperService, type MigrationPlan } from '../../gatekeeper/index.js';
import { type InputOf, type Preview, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import type { Sees } from '../access/name-limit.js';
import { Input, SeenNames, User } from '../http/input.decorator.js';
import { Serves } from '../http/serves.decorator.js';
import { previewOf } from './preview.js';

/** Steps of matching in one preview: 1,000 nodes and patterns of 500 instructions each. At most 1 s of CPU. */
const MOST_WORK = 20_000_000;

/** Changing many definitions at once, and trying one out. */
@ConsoleController()
export class BulkController {
  constructor(private readonly gatekeeper: GatekeeperService) {}

  @Serves(ROUTES.preview)
  async preview(@Input() { body }: InputOf<typeof ROUTES.preview>): Promise<Preview> {
    const preview = previewOf(body, await this.gatekeeper.registry.nodes(), this.gatekeeper.definitions);
    return inSlices(preview, systemClock, { most: MOST_WORK, subject: 'the preview' });
  }

  @Serves(ROUTES.migrate)
  migrate(
    @Input() { body }: InputOf<typeof ROUTES.migrate>,
    @User() by: string,
    @SeenNames() only: Sees,
  ): Promise<MigrationPlan> {
    const { dryRun, reason, limit, ...request } = body;
    const { definitions } = this.gatekeeper;
    return dryRun
      ? definitions.planMigration(request, { limit, only })
      : definitions.migrate(request, { reason, limit, only, by });
  }

  @Serves(ROUTES.pauseAll)
  pauseAll(
    @Input() { body }: InputOf<typeof ROUTES.pauseAll>,
    @User() by: string,
    @SeenNames() only: Sees,
  ): Promise<BulkResult> {
    return this.gatekeeper.definitions.pauseAll({ ...body, only, by });
  }

  @Serves(ROUTES.resumeAll)
  resumeAll(
    @Input() { body }: InputOf<typeof ROUTES.resumeAll>,
    @User() by: string,
    @SeenNames() only: Sees,
  ): Promise<BulkResult> {
    return this.gatekeeper.definitions.resumeAll({ ...body, only, by });
  }
}
