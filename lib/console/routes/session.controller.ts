import { Inject, Injectable } from '@nestjs/common';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { shortestDuration } from '../../core/decision/index.js';
import { HTTP_ROUTES, SIGN_IN_ROUTES, type SessionAnswer, type Visitor } from '../api/index.js';
import { denialReasonSchema } from '../../core/decision/answer-values.js';
import { cookieNameOf, setCookie } from '../access/session-cookie.js';
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
    { route: HTTP_ROUTES.session, handle: (call) => this.#session(visitorOf(call)) },
    { route: SIGN_IN_ROUTES.signIn, handle: (call) => this.#open(call) },
    { route: SIGN_IN_ROUTES.signOut, handle: (call) => this.#close(call) },
  ];

  constructor(
    private readonly gatekeeper: GatekeeperService,
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
    private readonly tokens: Tokens,
  ) {}

  async #open(call: ConsoleCall): Promise<{ readonly user: string }> {
    await readInput(call);
    const { request, response } = call;
    const name = cookieNameIn(request);
    const session = this.tokens.sessionFor(request.headers.authorization);
    // Only a token gives a session. Otherwise a thief could renew a stolen session for ever.
    if (session === undefined) throw new ProblemError('no-token', 'to sign in, send "Authorization: Bearer <token>"');
    addCookie(response, setCookie(name, session, request));
    return { user: visitorOf(call).user };
  }

  #close({ request, response }: ConsoleCall): { readonly ended: true } {
    addCookie(response, setCookie(cookieNameIn(request), undefined, request));
    return { ended: true };
  }

  #session({ user, role, names, permitsOnly, endsAt }: Visitor): SessionAnswer {
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
      ...(endsAt !== undefined && { endsAt }),
    };
  }
}

/** A program that signs in would get a cookie that it does not use. @throws ProblemError */
function cookieNameIn({ headers }: ConsoleRequest): string {
  const name = cookieNameOf(headers);
  if (name !== undefined) return name;
  const detail = `only a page signs in and out, and sends ${PAGE_HEADER}: a program sends its token with each call`;
  throw new ProblemError('bad-request', detail);
}
