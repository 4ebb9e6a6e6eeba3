import type { z } from 'zod';
import type { Operation } from './operation.js';
import type { OPERATIONS, ROUTES, SIGN_IN_ROUTES } from './routes.js';

/* The types of calls by their ids, for clients: the command line and the page. Nothing of this file exists at run time. */

type Calls = typeof ROUTES & typeof SIGN_IN_ROUTES;

/** Name of a call in the catalogue. */
export type CallId = keyof Calls;

/** The answer of a call. */
export type AnswerOf<Id extends CallId> = z.output<Calls[Id]['answer']>;

/** The body that an operation takes. */
export type BodyOf<Id extends keyof typeof OPERATIONS> = Unchanged<
  z.input<(typeof OPERATIONS)[Id]['body'] & z.ZodType>
>;

/** A value with read-only fields and lists. */
type Unchanged<T> = T extends object ? { readonly [Key in keyof T]: Unchanged<T[Key]> } : T;

/** The input of an operation, which the node checks. */
export interface Sent<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
> {
  /** Values of its path. */
  readonly params?: { readonly [Name in keyof z.input<Params>]: string };
  readonly query?: { readonly [Name in keyof z.input<Query>]?: string | number | undefined };
  readonly body?: Unchanged<z.input<Body>>;
}

/** The input of a call by its id. */
export type SentTo<Id extends CallId> =
  Calls[Id] extends Operation<infer Params, infer Query, infer Body>
    ? WithParams<Sent<Params, Query, Body>, Calls[Id]['params']>
    : Pick<Sent, 'body'>;

/** The input with the values of the path as a must, if the operation has a schema of them. */
type WithParams<Input extends Pick<Sent, 'params'>, Schema> = [NonNullable<Schema>] extends [never]
  ? Input
  : Input & Required<Pick<Input, 'params'>>;
