import { type UndoPlan, type UndoStep } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { expectRole } from '../access/access.guard.js';
import { ChangeRate } from '../access/change-rate.js';
import type { Sees, Visitor } from '../http/visitor.js';
import { type InputOf, ROUTES } from '../api/index.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { Input, SeenNames, VisitorOf } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';

/** Kinds of changes that need the role `define`, also if they undo another change. */
const DEFINING: ReadonlySet<UndoStep['kind']> = new Set(['define', 'edit', 'reset', 'remove']);

/** Undoes entries of the audit log. */
@ConsoleController()
export class UndoController {
  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly changeRate: ChangeRate,
  ) {}

  @Serves(ROUTES.undo)
  undo(
    @Input() { body }: InputOf<typeof ROUTES.undo>,
    @VisitorOf() visitor: Visitor,
    @SeenNames() only: Sees,
  ): Promise<UndoPlan> {
    const { entry, dryRun, reason, limit, bulk } = body;
    const { definitions } = this.gatekeeper;
    if (dryRun) return definitions.planUndo(entry, { limit, only });
    const undo = (take: (count: number) => void) =>
      definitions.undo(entry, {
        reason,
        limit,
        bulk,
        only,
        by: visitor.user,
        onPlanned: (steps) => {
          if (steps.some(({ kind }) => DEFINING.has(kind))) expectRole(visitor, 'define');
          take(steps.length);
        },
      });
    return this.changeRate.ofMany(visitor, undo, countUndone);
  }
}

function countUndone({ steps }: UndoPlan): number {
  return steps.filter(({ outcome }) => outcome === 'undone').length;
}
