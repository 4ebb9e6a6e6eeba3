import type { CanActivate, Type } from '@nestjs/common';
import type { Role } from './api/index.js';

/** A secret that gives its sender the rights of a role. */
export interface ConsoleToken {
  /** Sent as `Authorization: Bearer <token>`. 16 characters or more; take random ones. */
  readonly token: string;
  /** The token's owner: stands in the audit log beside each change. */
  readonly name: string;
  /** view < operate < define < node */
  readonly role: Role;
  /** RE2, must match the whole name: the semaphores that it sees and touches. All unless given; not for the role node. */
  readonly names?: string;
  /** It takes, refreshes and releases permits and does nothing else. For the roles operate and define. */
  readonly permitsOnly?: boolean;
}

/**
 * The operators' side, over HTTP: a page, an API and an event stream. Closed until the options say who may use it: give
 * tokens, guards, or both.
 */
export interface ConsoleOptions {
  /** Where it is mounted, below the application's own prefix. Default "gatekeeper". */
  readonly path?: string;
  /** The tokens that may use the console. Default: none. */
  readonly tokens?: readonly ConsoleToken[];
  /**
   * The application's own guards, all of which must let a request pass. Without tokens a visitor who passes has the role
   * `view`, unless the guard sets `request.gatekeeperRole`; `request.gatekeeperUser` names the visitor in the audit log.
   */
  readonly guards?: readonly (Type<CanActivate> | CanActivate)[];
  /** Nothing may be changed through this node. Default false. */
  readonly readOnly?: boolean;
  /**
   * Everybody who reaches the port may do all that the role `define` may. Default false. Answers only requests for
   * localhost, IP addresses and {@link allowedHosts}.
   */
  readonly insecure?: boolean;
  /**
   * Names of this application's host, without a port: "dev.local". Where some are given, or the console is insecure, a
   * request for another name is refused; localhost and IP addresses are always allowed.
   */
  readonly allowedHosts?: readonly string[];
  /**
   * Believe X-Forwarded-Host: only where every request comes through a proxy that sets it. Default false.
   */
  readonly trustProxy?: boolean;
  /** "production": shown on each page, so that it is not mistaken for another. */
  readonly environment?: string;
  /** Other origins whose pages may call the API: "https://ops.example.com". */
  readonly allowedOrigins?: readonly string[];
}
