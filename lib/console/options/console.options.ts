import type { CanActivate, Type } from '@nestjs/common';
import type { DurationInput } from '../../core/decision/index.js';
import type { Role } from '../api/index.js';

/** A secret that gives its sender the rights of a role. */
export interface ConsoleToken {
  /**
   * Sent as `Authorization: Bearer <token>`. 16 to 1000 random characters of printable ASCII, without spaces (`openssl
   * rand -hex 32`).
   */
  readonly token: string;
  /** Name of the token's owner, which the audit log shows with each change. */
  readonly name: string;
  /** Rights of the token: `view` < `operate` < `define` < `node`. */
  readonly role: Role;
  /**
   * Names of the semaphores that it may see and change: RE2; must match the whole name. Not for `node`.
   *
   * @defaultValue all
   */
  readonly names?: string;
  /**
   * Whether the token may only take, refresh and release permits. For `operate` and `define`.
   *
   * @defaultValue false
   */
  readonly permitsOnly?: boolean;
  /**
   * The longest lease with which it may claim and renew tasks: ms, or text such as "12h". Longer ones are refused,
   * because a worker that crashes keeps its tasks so long.
   *
   * @defaultValue 1 hour
   */
  readonly maxLease?: DurationInput;
}

/**
 * Options of the console for operators: a page, an API and an event stream over HTTP. Give tokens, guards, or both.
 * Without them the application does not start, unless `insecure` is true.
 */
export interface ConsoleOptions {
  /**
   * Path of the console, below the application's own prefix, unless `setGlobalPrefix` excludes it. Use a path that no
   * controller of the application has, because the console comes first.
   *
   * @defaultValue `gatekeeper`
   */
  readonly path?: string;
  /**
   * Tokens of users and programs.
   *
   * @defaultValue none
   */
  readonly tokens?: readonly ConsoleToken[];
  /**
   * The application's own guards. A request must pass all of them, and have a token if there are tokens. Global guards,
   * interceptors, pipes and filters of the application don't apply to the console: to have a global guard asked, list
   * its class, and its instance is taken (docs/http-api.md#in-your-application). Without tokens, a visitor has the role
   * `view`, unless a guard sets `request.gatekeeperRole` to another {@link Role}. A guard may set
   * `request.gatekeeperUser` to the name for the audit log.
   *
   * @defaultValue none
   */
  readonly guards?: readonly (Type<CanActivate> | CanActivate)[];
  /**
   * Decorators of the application for the class and the method that {@link guards} see: `[Public(), SkipThrottle()]`.
   * So a guard reads its metadata as it does for a controller.
   *
   * @defaultValue none
   */
  readonly decorators?: readonly (ClassDecorator & MethodDecorator)[];
  /**
   * Whether all changes through this node are refused.
   *
   * @defaultValue false
   */
  readonly readOnly?: boolean;
  /**
   * Gives the role `define` to every client that reaches the port, and logs a warning at the start: no token, no guard.
   * Answers only requests for localhost, IP addresses and {@link allowedHosts}. Not together with tokens or guards.
   *
   * @defaultValue false
   */
  readonly insecure?: boolean;
  /**
   * Names of this application's host, without ports: `['dev.local']`. If given, or if the console is insecure, requests
   * for other names are refused (403, `host-not-allowed`). localhost and IP addresses are always allowed.
   *
   * @defaultValue all names are allowed
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Whether to trust the headers X-Forwarded-Host, X-Forwarded-For and X-Forwarded-Prefix. Set it only if every request
   * comes through a proxy that sets them.
   *
   * @defaultValue false
   */
  readonly trustProxy?: boolean;
  /**
   * Name of the environment, such as "production". Each page shows it, so that users do not confuse environments.
   *
   * @defaultValue none
   */
  readonly environment?: string;
  /**
   * Other origins whose pages may call the API: `['https://ops.example.com']`. The application itself must answer their
   * preflight requests (CORS).
   *
   * @defaultValue none
   */
  readonly allowedOrigins?: readonly string[];
  /**
   * Address of the logs of a run, which the page shows beside the run:
   * `https://logs.example.com/?query={acquirer}+{job}&from={from}&to={to}`. The placeholders are `semaphore`, `job`,
   * `group`, `acquirer`, `instance`, `token`, `from` and `to` (ISO 8601, a minute around the run), `fromMs` and `toMs`;
   * values are encoded. Only http and https.
   *
   * @defaultValue none
   */
  readonly logsUrl?: string;
}
