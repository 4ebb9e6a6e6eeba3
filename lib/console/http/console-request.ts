import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { VISITOR } from '../options/console.constants.js';
import type { Route, Visitor } from '../api/index.js';

/** The common part of Express's and Fastify's requests. */
export interface ConsoleRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Values of the path, decoded. */
  params?: unknown;
  readonly query?: unknown;
  /** The body from the application's parser; undefined if there is no parser. */
  readonly body?: unknown;
  /** Node's own request, on Fastify. On Express the request itself is Node's. */
  readonly raw?: IncomingMessage;
  readonly url?: string;
  readonly originalUrl?: string;
  /** Set by the application's guards; see ConsoleOptions.guards. */
  readonly gatekeeperRole?: unknown;
  readonly gatekeeperUser?: unknown;
  [VISITOR]?: Visitor;
}

/** The common part of Express's response and Fastify's reply. */
export interface ConsoleResponse {
  /** Node's own response, on Fastify. On Express the response itself is Node's. */
  readonly raw?: ServerResponse;
  status(code: number): unknown;
  header(name: string, value: string | string[]): unknown;
}

/** One call of a client: its request, the route that it matched, and the answer to send. */
export interface ConsoleCall {
  readonly route: Route;
  readonly request: ConsoleRequest;
  readonly response: ConsoleResponse;
}

export function rawRequest(request: ConsoleRequest): IncomingMessage {
  return request.raw ?? (request as unknown as IncomingMessage);
}

export function rawResponse(response: ConsoleResponse): ServerResponse {
  return response.raw ?? (response as unknown as ServerResponse);
}

/** Adds a cookie to those that the application has set. */
export function addCookie(response: ConsoleResponse, cookie: string): void {
  const before = [rawResponse(response).getHeader('Set-Cookie') ?? []].flat().map(String);
  response.header('Set-Cookie', [...before, cookie]);
}

/** The sender of a call whose route needs a role: the guard has noted it. */
export function visitorOf({ request }: ConsoleCall): Visitor {
  return request[VISITOR]!;
}
