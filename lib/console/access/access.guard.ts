import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { CONSOLE_SETTINGS, VISITOR } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import { ROLES, type Route, type Visitor, expectRole, isRole } from '../api/index.js';
import { nameSchema, show } from '../../core/decision/index.js';
import { ProblemError } from '../api/problem.error.js';
import { AnswersUnderWay } from '../http/answers-under-way.js';
import { type ConsoleCall, type ConsoleRequest, rawRequest } from '../http/console-request.js';
import { ChangeRate } from './change-rate.js';
import { FailedAttempts } from './failed-attempts.js';
import { HostGuards } from './host-guards.js';
import { areAllowed, isFromHere, requestHosts } from './request-hosts.js';
import { sessionOf } from './session-cookie.js';
import { Tokens } from './tokens.js';

/** Refuses calls that the options do not allow. */
@Injectable()
export class AccessGuard implements OnModuleDestroy {
  readonly #underWay = new AnswersUnderWay();

  constructor(
    @Inject(CONSOLE_SETTINGS) private readonly settings: ConsoleSettings,
    private readonly hostGuards: HostGuards,
    private readonly failedAttempts: FailedAttempts,
    private readonly changeRate: ChangeRate,
    private readonly tokens: Tokens,
  ) {}

  /**
   * A server that closes accepts no new connections, but still serves open ones. So a page that sends a request every few
   * seconds would keep the application alive for ever.
   */
  onModuleDestroy(): void {
    this.#underWay.sendAway();
  }

  /**
   * Waits for the turn of a call, and checks it. Notes its sender in the request.
   *
   * @throws ProblemError for a call that is refused, any error of a guard, ClientGoneError
   */
  async admit(call: ConsoleCall): Promise<void> {
    const { route, request, response } = call;
    await this.#underWay.turn(request, response);
    if (route.role === undefined) return;
    const hosts = requestHosts(rawRequest(request), this.settings.trustProxy);
    this.#expectAllowedHost(hosts);
    await this.hostGuards.ask(call);
    const visitor = this.#visitor(request, hosts);
    expectForPermits(visitor, route);
    expectRole(visitor, route.role);
    this.#expectWritable(route);
    this.#expectSameOrigin(request, hosts);
    if (route.method !== 'GET') expectJson(request, route.accepts);
    this.changeRate.note(visitor, route);
    request[VISITOR] = visitor;
  }

  #visitor(request: ConsoleRequest, hosts: readonly string[]): Visitor {
    if (this.settings.insecure) return { user: 'anonymous', role: 'define', isNameless: true };
    if (!this.tokens.areGiven) return visitorOfHost(request);
    const visitor = this.#signedIn(request.headers, hosts);
    if (visitor) return visitor;
    // A request without a token is no attempt: a page sends them when it was just opened, or when its session has ended.
    if (request.headers.authorization !== undefined) this.failedAttempts.note(request);
    throw new ProblemError(
      'no-token',
      'send "Authorization: Bearer <token>" with a token of the option console.tokens',
    );
  }

  /** A token counts more than a session: a program says who it is. */
  #signedIn(headers: ConsoleRequest['headers'], hosts: readonly string[]): Visitor | undefined {
    const { authorization } = headers;
    if (authorization !== undefined) return this.tokens.visitorWith(authorization);
    const session = sessionOf(headers, hosts);
    return session === undefined ? undefined : this.tokens.visitorIn(session);
  }

  #expectWritable({ writes }: Route): void {
    if (!writes || !this.settings.readOnly) return;
    throw new ProblemError('read-only', 'this console has the option readOnly: make the change through another node');
  }

  /**
   * An insecure console needs no token. So a foreign page whose host name resolves to this machine (DNS rebinding) must
   * not pass for the console's own page.
   */
  #expectAllowedHost(hosts: readonly string[]): void {
    const { insecure, allowedHosts } = this.settings;
    if ((!insecure && allowedHosts.length === 0) || areAllowed(hosts, allowedHosts)) return;
    throw new ProblemError('host-not-allowed', HOST_NOT_ALLOWED(hosts));
  }

  #expectSameOrigin({ headers }: ConsoleRequest, hosts: readonly string[]): void {
    if (isFromHere(headers, hosts, this.settings.allowedOrigins)) return;
    throw new ProblemError(
      'cross-origin',
      `pages of ${show(headers.origin ?? 'another site')} may not call this API: to allow it, add the origin to console.allowedOrigins`,
    );
  }
}

const HOST_NOT_ALLOWED = (hosts: readonly string[]) =>
  `the host ${show(hosts.join(', '))} is neither localhost nor an address: if it is yours, add its name to console.allowedHosts`;

const NAMELESS = 'a visitor without a name';

function visitorOfHost({ gatekeeperRole, gatekeeperUser }: ConsoleRequest): Visitor {
  const user = nameSchema.safeParse(gatekeeperUser);
  const role = gatekeeperRole === undefined ? 'view' : gatekeeperRole;
  // A name that begins so could be taken for a worker without a name, which has a key behind it.
  const isNamed = user.success && !user.data.startsWith(NAMELESS);
  if (isRole(role)) return isNamed ? { user: user.data, role } : { user: NAMELESS, role, isNameless: true };
  throw new Error(
    `a guard set request.gatekeeperRole to ${show(role)}, which is no role: set one of ${ROLES.join(', ')}`,
  );
}

function expectForPermits({ user, permitsOnly = false }: Visitor, { isForPermits = false }: Route): void {
  if (!permitsOnly || isForPermits) return;
  throw new ProblemError('token-limited', `the token of ${show(user)} is for permits only: use another token`);
}

/** A page of another site can't send this content type without a preflight request. */
function expectJson({ headers }: ConsoleRequest, accepted?: string): void {
  const type = headers['content-type'] ?? '';
  if (/^application\/json\s*(;|$)/i.test(type) || (accepted !== undefined && type === accepted)) return;
  throw new ProblemError('not-json', 'send "Content-Type: application/json", also with an empty body');
}
