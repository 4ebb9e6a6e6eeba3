import { systemClock } from '../../core/async/node-clock.js';
import { inSlices } from '../../core/async/slices.js';
import { type BulkResult, type MigrationPlan } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { type InputOf, type Preview, ROUTES } from '../api/index.js';
import { ClientAbort } from '../http/client-abort.decorator.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { ChangeRate } from '../access/change-rate.js';
import type { Sees, Visitor } from '../http/visitor.js';
import { Input, SeenNames, VisitorOf } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';
import { previewOf } from './preview.js';

/** Limit of matching steps in one preview: 1,000 nodes and patterns of 500 instructions. At most 1 s of CPU. */
const MOST_WORK = 20_000_000;

type OnPlanned = (count: number) => void;

/** Changes many definitions at once, and previews one. */
@ConsoleController()
export class BulkController {
  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly changeRate: ChangeRate,
  ) {}

  @Serves(ROUTES.preview)
  async preview(
    @Input() { body }: InputOf<typeof ROUTES.preview>,
    @ClientAbort() signal: AbortSignal,
  ): Promise<Preview> {
    const preview = previewOf(body, await this.gatekeeper.registry.nodes(), this.gatekeeper.definitions);
    return inSlices(preview, systemClock, { most: MOST_WORK, subject: 'the preview' }, signal);
  }

  @Serves(ROUTES.migrate)
  async migrate(
    @Input() { body }: InputOf<typeof ROUTES.migrate>,
    @VisitorOf() visitor: Visitor,
    @SeenNames() only: Sees,
  ): Promise<MigrationPlan> {
    const { dryRun, reason, limit, bulk, ...request } = body;
    const { definitions } = this.gatekeeper;
    if (dryRun) return definitions.planMigration(request, { limit, only });
    const options = { reason, limit, bulk, only, by: visitor.user };
    const migrate = (onPlanned: OnPlanned) => definitions.migrate(request, { ...options, onPlanned });
    return this.changeRate.ofMany(visitor, migrate, countMigrated);
  }

  @Serves(ROUTES.pauseAll)
  pauseAll(
    @Input() { body }: InputOf<typeof ROUTES.pauseAll>,
    @VisitorOf() visitor: Visitor,
    @SeenNames() only: Sees,
  ): Promise<BulkResult> {
    const request = { ...body, only, by: visitor.user };
    const pause = (onPlanned: OnPlanned) => this.gatekeeper.definitions.pauseAll({ ...request, onPlanned });
    return this.changeRate.ofPause(visitor, pause, countDone);
  }

  @Serves(ROUTES.resumeAll)
  resumeAll(
    @Input() { body }: InputOf<typeof ROUTES.resumeAll>,
    @VisitorOf() visitor: Visitor,
    @SeenNames() only: Sees,
  ): Promise<BulkResult> {
    const request = { ...body, only, by: visitor.user };
    const resume = (onPlanned: OnPlanned) => this.gatekeeper.definitions.resumeAll({ ...request, onPlanned });
    return this.changeRate.ofMany(visitor, resume, countDone);
  }

  @Serves(ROUTES.resetAll)
  resetAll(
    @Input() { body }: InputOf<typeof ROUTES.resetAll>,
    @VisitorOf() visitor: Visitor,
    @SeenNames() only: Sees,
  ): Promise<BulkResult> {
    const request = { ...body, only, by: visitor.user };
    const reset = (onPlanned: OnPlanned) => this.gatekeeper.definitions.resetAll({ ...request, onPlanned });
    return this.changeRate.ofMany(visitor, reset, countDone);
  }
}

function countDone({ done }: BulkResult): number {
  return done.length;
}

function countMigrated({ steps }: MigrationPlan): number {
  return steps.filter(({ outcome }) => outcome === 'migrated').length;
}
