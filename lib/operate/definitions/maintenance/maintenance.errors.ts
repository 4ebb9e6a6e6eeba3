import { GatekeeperError } from '../../../core/decision/gatekeeper.error.js';
import { show } from '../../../core/decision/texts/show.js';

/** There is no maintenance window of that name. */
export class UnknownMaintenanceError extends GatekeeperError {
  static override readonly className = 'UnknownMaintenanceError';
  readonly code = 'unknown-maintenance';

  constructor(
    /** Name of the window. */
    readonly window: string,
  ) {
    super(`there is no maintenance window ${show(window)}: it has ended, or was never started; list the windows`);
  }
}

/** A maintenance window does not allow this now. */
export class MaintenanceConflictError extends GatekeeperError {
  static override readonly className = 'MaintenanceConflictError';
  readonly code = 'maintenance-conflict';

  constructor(
    /** Name of the window. */
    readonly window: string,
    why: string,
  ) {
    super(`maintenance window ${show(window)} ${why}`);
  }
}
