import { Injectable, Logger } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { safeStack, show } from '../../core/decision/index.js';
import { type Problem } from '../api/index.js';
import { ClientGoneError } from './client-abort.decorator.js';
import { type ConsoleRequest, type ConsoleResponse, rawRequest, rawResponse } from './console-request.js';
import { refusalOf } from './incoming-bodies.js';
import { problemOf, problemOfServer } from './problem-of.js';

/** Answers errors with problem details (RFC 9457). */
@Injectable()
export class ProblemAnswers {
  readonly #logger = new Logger('Gatekeeper');

  constructor(private readonly host: HttpAdapterHost) {}

  /** Answers a call that failed. */
  answer(error: unknown, request: ConsoleRequest, response: ConsoleResponse): void {
    this.#answer(problemOf(error), error, request, response);
  }

  /** Answers a request that the application's server has refused itself. */
  answerHost(error: unknown, request: ConsoleRequest, response: ConsoleResponse): void {
    const refusal = refusalOf(rawRequest(request));
    const problem = refusal ? problemOf(refusal) : problemOfServer(error);
    this.#answer(problem, error, request, response);
  }

  #answer(problem: Problem, error: unknown, request: ConsoleRequest, response: ConsoleResponse): void {
    if (problem.code === 'internal' && !isClientGone(error, request)) this.#tell(request, error);
    // Once an event stream has begun, no error answer is possible.
    if (rawResponse(response).headersSent) return;
    this.#reply(response, problem);
  }

  /** Logs a failure, without headers and body, because those contain secrets. */
  #tell({ method }: ConsoleRequest, error: unknown): void {
    const text = error instanceof Error ? safeStack(error) : show(error);
    this.#logger.error(`a ${method} request of the console failed: ${text}`);
  }

  #reply(response: ConsoleResponse, problem: Problem): void {
    const { httpAdapter } = this.host;
    const headers = {
      'Content-Type': 'application/problem+json',
      'Cache-Control': 'no-store',
      'X-Content-Type-Options': 'nosniff',
      ...(problem.status === 401 && { 'WWW-Authenticate': 'Bearer realm="gatekeeper"' }),
      ...retryAfter(problem),
    };
    for (const [name, value] of Object.entries(headers)) httpAdapter.setHeader(response, name, value);
    httpAdapter.reply(response, JSON.stringify(problem), problem.status);
  }
}

/** Fastify reports a reader that goes away in the middle of an answer as a failure of the answer. */
function isClientGone(error: unknown, request: ConsoleRequest): boolean {
  if (error instanceof ClientGoneError) return true;
  return rawRequest(request).socket.destroyed && Object(error).code === 'ERR_STREAM_PREMATURE_CLOSE';
}

/**
 * Returns the header that says when another try may succeed. An unreachable store usually comes back soon, and names on
 * demand end with their permits.
 */
function retryAfter({ status, code, freeIn, retryAfter }: Problem): { 'Retry-After'?: string } {
  if (retryAfter !== undefined) return { 'Retry-After': String(retryAfter) };
  if (freeIn !== undefined) return { 'Retry-After': String(Math.ceil(freeIn / 1000)) };
  return status === 503 || code === 'too-many-names' ? { 'Retry-After': '1' } : {};
}
