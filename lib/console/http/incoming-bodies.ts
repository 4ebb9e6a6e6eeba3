import type { IncomingHttpHeaders, IncomingMessage, Server } from 'node:http';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { ProblemCode } from '../api/index.js';
import { CONSOLE_SETTINGS } from '../options/console.constants.js';
import type { ConsoleSettings } from '../options/console.settings.js';
import { DEEPEST, type JsonFault, JsonScan, MOST_FIELDS, MOST_VALUES } from './json-scan.js';
import { OwnCalls } from './own-calls.js';
import { ProblemError } from '../api/problem.error.js';

/** Of the requests whose bodies are watched. */
const bodies = new WeakMap<IncomingMessage, IncomingBody>();

/**
 * Looks at the bodies of the console's calls while they arrive, before the parser of the application gets them. To parse 1 MB
 * that nests deep would block the event loop for 100 ms. The rest of a body that is refused is dropped.
 *
 * Requests whose connection is closed already are dropped: Node reads a thousand of them with one piece of a connection, and
 * nothing can answer them.
 */
@Injectable()
export class IncomingBodies implements OnModuleInit {
  readonly #calls: OwnCalls;

  constructor(
    private readonly host: HttpAdapterHost,
    @Inject(CONSOLE_SETTINGS) { path }: ConsoleSettings,
  ) {
    this.#calls = new OwnCalls(path);
  }

  /** Stands before Express on its server, because an application adds its parser first. */
  onModuleInit(): void {
    const { httpAdapter } = this.host;
    if (httpAdapter?.getType() !== 'express') return;
    const server: Server = httpAdapter.getHttpServer();
    const listeners = server.listeners('request');
    server.removeAllListeners('request');
    server.on('request', (request, response) => {
      if (!this.letsIn(request)) return;
      for (const listener of listeners) listener.call(server, request, response);
    });
  }

  /**
   * Begins to watch the body of a request, if it is a call of the console. On Fastify the routes of the console call it before
   * the body is read, because Fastify may listen with several servers.
   *
   * @returns false for a request of the console whose connection is closed: it needs no answer
   */
  letsIn(request: IncomingMessage): boolean {
    const { url = '' } = request;
    if (!this.#calls.isBelow(url)) return true;
    const largest = this.#calls.largestBodyOf(url);
    if (largest !== undefined) watch(request, largest);
    return isOpen(request);
  }
}

/** HTTP/2 has many streams on one connection, and ends each by itself. */
function isOpen({ httpVersionMajor, socket }: IncomingMessage): boolean {
  return httpVersionMajor >= 2 || !socket.destroyed;
}

/** @param largest bytes */
function watch(request: IncomingMessage, largest: number): void {
  if (request.method === 'GET' || request.method === 'HEAD') return;
  const body = new IncomingBody(request, largest);
  bodies.set(request, body);
  const push = request.push.bind(request);
  request.push = (piece, encoding) => (piece === null || body.add(piece) ? push(piece, encoding) : true);
}

/** Whether the body of a request was checked while it arrived. */
export function isWatched(request: IncomingMessage): boolean {
  return bodies.has(request);
}

/** Why the body of a request is refused, as far as it has arrived. */
export function refusalOf(request: IncomingMessage): ProblemError | undefined {
  return bodies.get(request)?.refusal;
}

class IncomingBody {
  refusal: ProblemError | undefined;
  readonly #scan = new JsonScan();
  #size = 0;

  /** @param largest bytes */
  constructor(
    { headers }: IncomingMessage,
    private readonly largest: number,
  ) {
    this.refusal = refusalOfHeaders(headers) ?? this.#refusalOf(Number(headers['content-length'] ?? 0));
  }

  /** @returns whether the application may have this piece */
  add(piece: Uint8Array): boolean {
    this.#size += piece.length;
    this.refusal ??= this.#refusalOf(this.#size) ?? problemOfJson(this.#scan.add(piece));
    return this.refusal === undefined;
  }

  #refusalOf(size: number): ProblemError | undefined {
    return size > this.largest ? tooLarge(this.largest) : undefined;
  }
}

/** In another encoding the bytes would not show what is in the body. */
function refusalOfHeaders(headers: IncomingHttpHeaders): ProblemError | undefined {
  const { 'content-encoding': encoding = 'identity', 'content-type': type = '' } = headers;
  if (encoding.toLowerCase() !== 'identity') {
    return new ProblemError('not-json', `send the body without "Content-Encoding: ${encoding.slice(0, 20)}"`);
  }
  const charset = /charset\s*=\s*"?([^";,\s]*)/i.exec(type)?.[1] ?? 'utf-8';
  if (/^(utf-?8|us-ascii)$/i.test(charset)) return undefined;
  return new ProblemError('not-json', 'send the body in UTF-8');
}

export function tooLarge(largest: number): ProblemError {
  return new ProblemError('too-large', `the body is larger than ${largest} bytes`);
}

/** Returns the refusal of a body with a fault. */
export function problemOfJson(fault: JsonFault | undefined): ProblemError | undefined {
  if (fault === undefined) return undefined;
  const [code, detail] = FAULTS[fault];
  return new ProblemError(code, detail);
}

const FAULTS = {
  'too deep': ['bad-request', `the body nests more than ${DEEPEST} levels deep`],
  'too many values': ['too-large', `the body has more than ${MOST_VALUES} values`],
  'too many fields': ['too-large', `the body has more than ${MOST_FIELDS} fields`],
} as const satisfies Record<JsonFault, readonly [ProblemCode, string]>;
