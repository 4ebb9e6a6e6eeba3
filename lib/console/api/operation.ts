import type { z } from 'zod';
import type { Parts } from '../../gatekeeper/index.js';
import type { Caller } from './caller.js';
import type { ProblemCode } from './problem-codes.js';
import type { Role } from './roles.js';

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';

/**
 * The description of one call of the API. The router, the input check, the guard and the OpenAPI document all use it,
 * so they can't contradict each other.
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
  /** Summary for the OpenAPI document. */
  readonly summary: string;
  /** The lowest role that may call it; absent if it needs no token. */
  readonly role?: Role;
  /** Whether the call changes something. Then the option `readOnly` refuses it. Default false. */
  readonly writes?: boolean;
  /** Whether one call changes many definitions. Then the rate limit counts each of them. Default false. */
  readonly changesMany?: boolean;
  /** Whether a change adds no entry to the audit log. Then the rate of changes is not limited. Default false. */
  readonly isUnaudited?: boolean;
  /**
   * Whether an answer may need much memory or time, more than its length shows. Then only a few are made at the same time.
   * Default false.
   */
  readonly isHeavy?: boolean;
  /** Whether a token with `permitsOnly` may call it. Default false. */
  readonly isForPermits?: boolean;
  /** Media type of the body that is accepted besides JSON. */
  readonly accepts?: string;
  /** Maximum size of the body in bytes. Default {@link LARGEST_BODY}. */
  readonly largestBody?: number;
  readonly params?: Params;
  readonly query?: Query;
  readonly body?: Body;
  /** Default 200. */
  readonly status?: number;
  /** Another status with the same answer, and its condition. */
  readonly otherStatus?: readonly [status: number, description: string];
  /** Media type of the answer. Default: JSON. */
  readonly mediaType?: string;
  /** Media type of another form of the answer, which is text. */
  readonly otherMediaType?: string;
  readonly answer: Answer;
  /** Whether the answer has an ETag. A client that sends it gets 304 while nothing changed. Default false. */
  readonly isConditional?: boolean;
  /** Refusals besides those of all calls. */
  readonly problems?: readonly ProblemCode[];
}

/** A call in the OpenAPI document. */
export interface DocumentedRoute extends Route {
  /** A unique name. Generated clients use it for their methods. */
  readonly operationId: string;
}

/** Default maximum size of a body, in bytes. */
export const LARGEST_BODY = 64 * 1024;

type OutputOf<Schema> = [Schema] extends [never] ? undefined : Schema extends z.ZodType ? z.output<Schema> : undefined;

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

/** The checked input of an operation. */
interface Checked<Params, Query, Body> {
  readonly params: OutputOf<Params>;
  readonly query: OutputOf<Query>;
  readonly body: OutputOf<Body>;
}

/** A call of the API that a node can make for anyone who asks: over HTTP, or in its own process. */
export interface Operation<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> extends Route<Params, Query, Body, Answer> {
  /** A unique name. Generated clients use it for their methods. */
  readonly operationId: string;
  /**
   * Makes the call. Throws a {@link ProblemError}, or an error of the library, whose code is one of the problems.
   *
   * @param parts of the answering node
   */
  run(parts: Parts, input: Checked<Params, Query, Body>, caller: Caller): z.output<Answer> | Promise<z.output<Answer>>;
  /** Whether an answer has `otherStatus`. */
  isOther?(answer: z.output<Answer>): boolean;
  /** What the user sees of an answer, part by part, for its ETag: without times that run. */
  essence?(answer: z.output<Answer>): Iterable<unknown>;
  /** An answer as text of `otherMediaType`, piece by piece, and the name of the file that a browser saves. */
  asText?(answer: z.output<Answer>): { readonly fileName: string; readonly pieces: AsyncIterable<Buffer> };
}
/** Returns the description, with the exact types of its schemas. */
export function route<const R extends Route>(description: R): R {
  return description;
}

/** Returns the entry, with the exact types of its schemas. */
export function operation<
  Answer extends z.ZodType,
  Params extends z.ZodObject = never,
  Query extends z.ZodObject = never,
  Body extends z.ZodType = never,
>(entry: Operation<Params, Query, Body, Answer>): Operation<Params, Query, Body, Answer> {
  return entry;
}
