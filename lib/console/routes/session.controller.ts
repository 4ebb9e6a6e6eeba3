import { Inject } from '@nestjs/common';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { shortestDuration } from '../../core/decision/index.js';
import { ROUTES, type SessionAnswer, denialReasonSchema } from '../api/index.js';
import type { Visitor } from '../http/visitor.js';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import { ConsoleController } from '../http/console-controller.decorator.js';
import { VisitorOf } from '../http/input.decorator.js';
import { Serves } from '../http/handlers.js';

@ConsoleController()
export class SessionController {
  constructor(
    private readonly gatekeeper: GatekeeperService,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
  ) {}

  @Serves(ROUTES.session)
  session(@VisitorOf() { user, role, names, permitsOnly }: Visitor): SessionAnswer {
    const { readOnly, environment, logsUrl } = this.settings;
    const { node, store, clock } = this.gatekeeper.health();
    const limits = { ...(names && { names: names.pattern }), ...(permitsOnly && { permitsOnly }) };
    const { clockTolerance } = partsOf(this.gatekeeper).directory.declared.rules;
    return {
      user,
      role,
      ...limits,
      readOnly,
      ...(environment !== undefined && { environment }),
      ...(logsUrl !== undefined && { logsUrl }),
      node,
      store,
      clock,
      clockTolerance,
      shortestDuration: shortestDuration(clockTolerance),
      denialReasons: denialReasonSchema.options,
    };
  }
}
