import { Injectable, Logger, HttpException } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { safeStack, show, GatekeeperError, InvalidOptionsError } from '../../core/decision/index.js';
import { type Problem, PROBLEMS, type ProblemCode, isProblemCode } from '../api/index.js';
import { ClientGoneError } from './client-abort.js';
import { type ConsoleRequest, type ConsoleResponse, rawRequest, rawResponse } from './console-request.js';
import { refusalOf } from './incoming-bodies.js';
import { AlreadyDefinedError, EditConflictError } from '../../gatekeeper/index.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import { ProblemError } from '../api/problem.error.js';

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

/** Maps an error to RFC 9457 problem details; hides internals. */
function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return problem(error.code, error.message, error.extra);
  if (error instanceof GatekeeperError) {
    const code = codeOf(error);
    if (code) return problem(code, error.message, extraOf(error));
  }
  if (error instanceof HttpException) return problemOfHost(error);
  return problem('internal', 'see the log of the answering node');
}

/** Some stores have codes of their own for the reason why they can't be asked. To a client these are all one. */
function codeOf(error: GatekeeperError): ProblemCode | undefined {
  if (isProblemCode(error.code)) return error.code;
  return error instanceof StoreUnavailableError ? 'unavailable' : undefined;
}

function problem(code: ProblemCode, detail: string, extra: Partial<Problem> = {}): Problem {
  const [status, title] = PROBLEMS[code];
  return { type: `urn:gatekeeper:${code}`, title, status, detail, code, ...extra };
}

function extraOf(error: GatekeeperError): Partial<Problem> {
  if (error instanceof InvalidOptionsError) return { faults: [...error.faults] };
  if (error instanceof AlreadyDefinedError) return { revision: error.revision };
  if (!(error instanceof EditConflictError)) return {};
  const { revision, expectedRevision, change } = error;
  return { revision, expectedRevision, ...(change && { change }) };
}

/** Maps a refusal of the application's own guards. Keeps their status and message. */
function problemOfHost(error: HttpException): Problem {
  return problemOfStatus(error.getStatus(), error.message);
}

/**
 * Maps a refusal of the application's server, which came before Nest got the request. Express and Fastify have
 * different names for the status. An error without a 4xx status is an internal failure.
 */
function problemOfServer(error: unknown): Problem {
  const { status, statusCode = status, message } = Object(error) as Record<string, unknown>;
  const isRefusal = typeof statusCode === 'number' && statusCode >= 400 && statusCode < 500;
  return isRefusal ? problemOfStatus(statusCode, String(message)) : problemOf(error);
}

function problemOfStatus(status: number, detail: string): Problem {
  const code = CODES[status] ?? (status < 500 ? 'bad-request' : 'internal');
  return { ...problem(code, detail), status };
}

/** Not 503: a server may answer that after the change was made, and `unavailable` promises that it was not. */
const CODES: Record<number, ProblemCode> = {
  401: 'no-token',
  403: 'forbidden',
  404: 'not-found',
  413: 'too-large',
  415: 'not-json',
};
