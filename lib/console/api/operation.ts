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
  /** Details beside the summary, in sentences, for the OpenAPI document and docs/http-api.md. A page of docs stands as its path. */
  readonly description?: string;
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
export interface DocumentedRoute<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> extends Route<Params, Query, Body, Answer> {
  /** A unique name. Generated clients use it for their methods. */
  readonly operationId: string;
}

/** Default maximum size of a body, in bytes. */
export const LARGEST_BODY = 64 * 1024;

/** The type of a value that a schema has checked; undefined if there is no schema. */
type OutputOf<Schema> = [Schema] extends [never] ? undefined : Schema extends z.ZodType ? z.output<Schema> : undefined;

/** The checked input of a call. */
export interface InputOf<R extends Route> {
  readonly params: OutputOf<NonNullable<R['params']>>;
  readonly query: OutputOf<NonNullable<R['query']>>;
  readonly body: OutputOf<NonNullable<R['body']>>;
}

/** A call of the API that a node can make over HTTP, or in its own process. */
export interface Operation<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Answer extends z.ZodType = z.ZodType,
> extends DocumentedRoute<Params, Query, Body, Answer> {
  /**
   * Makes the call. Throws a {@link ProblemError}, or an error of the library, whose code is one of the problems.
   *
   * @param parts of the answering node
   */
  run(
    parts: Parts,
    input: InputOf<Route<Params, Query, Body, Answer>>,
    caller: Caller,
  ): z.output<Answer> | Promise<z.output<Answer>>;
  /** Another status of some answers: which ones, and what the document says of it. */
  readonly other?: {
    readonly status: number;
    readonly description: string;
    readonly applies: (answer: z.output<Answer>) => boolean;
  };
  /** The parts of an answer that the user sees, without times that run: its ETag stands for them. */
  essence?(answer: z.output<Answer>): Iterable<unknown>;
  /** Another form of the answer, which is a text, for a file. */
  readonly text?: {
    readonly mediaType: string;
    /** Name of the file that a browser saves. */
    readonly fileName: string;
    readonly write: (answer: z.output<Answer>) => AsyncIterable<Buffer>;
  };
}

/** Returns the description, with the exact types of its schemas. */
export function route<const R extends Route>(description: R): R {
  return description;
}

type FollowsFromOthers = 'otherStatus' | 'otherMediaType' | 'isConditional';

/** Returns the entry, with the exact types of its schemas, and with what its route says of other forms of the answer. */
export function operation<
  Answer extends z.ZodType,
  Params extends z.ZodObject = never,
  Query extends z.ZodObject = never,
  Body extends z.ZodType = never,
>(entry: Omit<Operation<Params, Query, Body, Answer>, FollowsFromOthers>): Operation<Params, Query, Body, Answer> {
  const { other, essence, text } = entry;
  return {
    ...entry,
    ...(other && { otherStatus: [other.status, other.description] }),
    ...(text && { otherMediaType: text.mediaType }),
    ...(essence && { isConditional: true }),
  };
}
