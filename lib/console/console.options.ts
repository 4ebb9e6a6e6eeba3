import type { CanActivate, Type } from '@nestjs/common';
import type { Role } from './api/index.js';

/** A secret that gives its sender the rights of a role. */
export interface ConsoleToken {
  /** Sent as `Authorization: Bearer <token>`. 16 characters or more; take random ones. */
  readonly token: string;
  /** The token's owner, shown in the audit log with each change. */
  readonly name: string;
  /** view < operate < define < node */
  readonly role: Role;
  /** RE2, must match the whole name: the semaphores that it may see and change. Default: all. Not for the role node. */
  readonly names?: string;
  /** The token may only take, refresh and release permits. For the roles operate and define. Default false. */
  readonly permitsOnly?: boolean;
}

/**
 * Options of the console for operators: a page, an API and an event stream over HTTP. Give tokens, guards, or both: without
 * them the application does not start, unless `insecure` is true.
 */
export interface ConsoleOptions {
  /** Where it is mounted, below the application's own prefix. Default "gatekeeper". */
  readonly path?: string;
  /** The tokens that may use the console. Default: none. */
  readonly tokens?: readonly ConsoleToken[];
  /**
   * The application's own guards. A request must pass all of them. Without tokens a visitor who passes has the role
   * `view`, unless the guard sets `request.gatekeeperRole`; `request.gatekeeperUser` names the visitor in the audit log.
   */
  readonly guards?: readonly (Type<CanActivate> | CanActivate)[];
  /** Refuses all changes through this node. Default false. */
  readonly readOnly?: boolean;
  /**
   * Gives the role `define` to every client that reaches the port. Default false. Answers only requests for localhost, IP
   * addresses and {@link allowedHosts}.
   */
  readonly insecure?: boolean;
  /**
   * Names of this application's host, without a port: "dev.local". If given, or if the console is insecure, requests
   * for other names are refused. localhost and IP addresses are always allowed.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Trusts X-Forwarded-Host, X-Forwarded-For and X-Forwarded-Prefix. Set it only if every request comes through a proxy
   * that sets them. Default false.
   */
  readonly trustProxy?: boolean;
  /** "production": shown on each page, so that it is not mistaken for another. */
  readonly environment?: string;
  /** Other origins whose pages may call the API: "https://ops.example.com". */
  readonly allowedOrigins?: readonly string[];
}
