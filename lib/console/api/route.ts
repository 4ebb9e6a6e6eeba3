import type { z } from 'zod';
import type { Role } from './roles.js';
import type { ProblemCode } from './problems.js';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * One call of the API. The router, the input check, the guard and the OpenAPI document use the same description, so they
 * can't contradict each other.
 */
export interface Route<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> {
  readonly method: Method;
  /** Below the console's path, as Nest writes it: "api/semaphores/:name". */
  readonly path: string;
  /** Short summary for the document. */
  readonly summary: string;
  /** The lowest role that may call it; absent: it needs no token. */
  readonly role?: Role;
  /** True: it changes something, and is refused in read-only mode. */
  readonly writes?: boolean;
  /** Whether one call changes many definitions, each of which counts. */
  readonly changesMany?: boolean;
  /** Whether a token that is for permits only may call it. */
  readonly isForPermits?: boolean;
  /** A media type of the body that is accepted besides JSON. */
  readonly accepts?: string;
  /** The largest body, in bytes; {@link LARGEST_BODY} unless given. */
  readonly largestBody?: number;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** 200 unless given. */
  readonly status?: number;
  /** Another status with the same answer, and its condition. */
  readonly otherStatus?: readonly [status: number, description: string];
  /** The media type of the answer; JSON unless given. */
  readonly mediaType?: string;
  readonly answer: Answer;
  /** True when the answer has an ETag: a client that sends it gets 304 while nothing changed. */
  readonly isConditional?: boolean;
  /** Refusals besides those that all calls share. */
  readonly problems?: readonly ProblemCode[];
}

/** A call that is described in the OpenAPI document. */
export interface DocumentedRoute extends Route {
  /** Unique; generated clients name their methods after it. */
  readonly operationId: string;
}

/** Bytes. */
export const LARGEST_BODY = 64 * 1024;

type OutputOf<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** The checked input of a call. */
export interface InputOf<R extends Route> {
  readonly params: OutputOf<R['params']>;
  readonly query: OutputOf<R['query']>;
  readonly body: OutputOf<R['body']>;
}

/** The answer of a call. */
export type AnswerOf<R extends Route> = z.input<R['answer']>;

/** A body as a client writes it. */
export type BodyOf<R extends Route> = R['body'] extends z.ZodType ? z.input<R['body']> : undefined;

/** Keeps the types of the schemas. */
export function route<const R extends Route>(description: R): R {
  return description;
}
