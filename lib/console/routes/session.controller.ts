import { Inject, Injectable } from '@nestjs/common';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { shortestDuration } from '../../core/decision/index.js';
import { HTTP_ROUTES, type SessionAnswer, type Visitor, denialReasonSchema } from '../api/index.js';
import { visitorOf } from '../http/console-request.js';
import type { Controller, Handler } from '../http/handlers.js';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';

/** Tells a visitor its rights, and what the page must know of the answering node. */
@Injectable()
export class SessionController implements Controller {
  readonly handlers: readonly Handler[] = [
    { route: HTTP_ROUTES.session, handle: (call) => this.#session(visitorOf(call)) },
  ];

  constructor(
    private readonly gatekeeper: GatekeeperService,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
  ) {}

  #session({ user, role, names, permitsOnly }: Visitor): SessionAnswer {
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
