import { HttpException } from '@nestjs/common';
import { AlreadyDefinedError, EditConflictError } from '../../gatekeeper/index.js';
import { GatekeeperError, InvalidOptionsError } from '../../core/decision/index.js';
import { StoreUnavailableError } from '../../core/store/index.js';
import { PROBLEMS, type Problem, type ProblemCode, isProblemCode } from '../api/index.js';
import { ProblemError } from './problem.error.js';

/** Maps an error to RFC 9457 problem details; hides internals. */
export function problemOf(error: unknown): Problem {
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
export function problemOfServer(error: unknown): Problem {
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
