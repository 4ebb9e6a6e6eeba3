import { Inject, Injectable } from '@nestjs/common';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { shortestDuration } from '../../core/decision/index.js';
import { HTTP_ROUTES, type SessionAnswer, denialReasonSchema } from '../api/index.js';
import { cookieWith, cookieWithout, isFromPage, sessionOf } from '../access/session-cookie.js';
import { Tokens } from '../access/tokens.js';
import { ProblemError } from '../api/problem.error.js';
import { PAGE_HEADER } from '../api/limits.js';
import { type ConsoleCall, type ConsoleRequest, addCookie, visitorOf } from '../http/console-request.js';
import type { Controller, Handler } from '../http/handlers.js';
import { readInput } from '../http/input.js';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';

/** Tells a visitor its rights, and what the page must know of the answering node. */
@Injectable()
export class SessionController implements Controller {
  readonly handlers: readonly Handler[] = [
    { route: HTTP_ROUTES.session, handle: (call) => this.#session(call, sessionOf(call.request.headers)) },
    { route: HTTP_ROUTES.openSession, handle: (call) => this.#open(call) },
    { route: HTTP_ROUTES.closeSession, handle: (call) => this.#close(call) },
  ];

  constructor(
    private readonly gatekeeper: GatekeeperService,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
    private readonly tokens: Tokens,
  ) {}

  async #open(call: ConsoleCall): Promise<SessionAnswer> {
    await readInput(call);
    const { request, response } = call;
    expectPage(request);
    const session = this.tokens.sessionFor(request.headers.authorization);
    // A session can't prolong itself: whoever stole one would keep it for ever.
    if (session === undefined) throw new ProblemError('no-token', 'to sign in, send "Authorization: Bearer <token>"');
    addCookie(response, cookieWith(session, request));
    return this.#session(call, session);
  }

  async #close(call: ConsoleCall): Promise<{ readonly ended: true }> {
    await readInput(call);
    const { request, response } = call;
    expectPage(request);
    addCookie(response, cookieWithout(request));
    return { ended: true };
  }

  #session(call: ConsoleCall, session?: string): SessionAnswer {
    const { user, role, names, permitsOnly } = visitorOf(call);
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
      endsAt: session === undefined ? undefined : this.tokens.sessionIn(session)?.endsAt,
    };
  }
}

/** A program that signs in would get a cookie that it does not use. @throws ProblemError */
function expectPage(request: ConsoleRequest): void {
  if (isFromPage(request)) return;
  throw new ProblemError(
    'bad-request',
    `only a page signs in and out, and sends ${PAGE_HEADER}: a program sends its token with each call`,
  );
}
