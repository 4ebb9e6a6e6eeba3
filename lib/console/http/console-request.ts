import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { VISITOR } from '../console.constants.js';
import type { Visitor } from '../access/tokens.js';

/** What Express's request and Fastify's have in common. */
export interface ConsoleRequest {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly params?: unknown;
  readonly query?: unknown;
  /** What the application's body parser made of the body; undefined when it has none. */
  readonly body?: unknown;
  /** Fastify: Node's own request; Express's is one itself. */
  readonly raw?: IncomingMessage;
  readonly url?: string;
  readonly originalUrl?: string;
  /** Set by the application's guards. */
  readonly gatekeeperRole?: unknown;
  readonly gatekeeperUser?: unknown;
  [VISITOR]?: Visitor;
}

/** What Express's response and Fastify's reply have in common. */
export interface ConsoleResponse {
  /** Fastify: Node's own response; Express's is one itself. */
  readonly raw?: ServerResponse;
  status(code: number): unknown;
  header(name: string, value: string): unknown;
}

export function rawRequest(request: ConsoleRequest): IncomingMessage {
  return request.raw ?? (request as unknown as IncomingMessage);
}

export function rawResponse(response: ConsoleResponse): ServerResponse {
  return response.raw ?? (response as unknown as ServerResponse);
}
