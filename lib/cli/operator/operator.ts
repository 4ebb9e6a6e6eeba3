import type { z } from 'zod';
import type { Operation } from '../../console/api/operation.js';
// Not from the index of a folder, because that also loads Nest, which takes long.
import { OPERATIONS } from '../../console/api/routes.js';

export { OPERATIONS };

/** The answer of an operation. */
export type AnswerOf<Name extends keyof typeof OPERATIONS> = z.output<(typeof OPERATIONS)[Name]['answer']>;

/** The body that an operation takes. */
export type BodyOf<Name extends keyof typeof OPERATIONS> = Unchanged<
  z.input<(typeof OPERATIONS)[Name]['body'] & z.ZodType>
>;

/** A value with read-only fields and lists. */
type Unchanged<T> = T extends object ? { readonly [Key in keyof T]: Unchanged<T[Key]> } : T;

/** All semaphores with their holders and warnings, at one moment. */
export type Overview = Pick<AnswerOf<'semaphores'>, 'now' | 'semaphores'>;

/** The input of an operation, which the target checks. */
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

/** Calls an operation of the catalogue. */
export type Call = <
  Answer extends z.ZodType,
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
>(
  operation: Operation<Params, Query, Body, Answer>,
  sent?: Sent<Params, Query, Body>,
) => Promise<z.output<Answer>>;

/**
 * A target of commands: over the console's HTTP API, or a store, on which this process makes the operations itself. Both
 * give the same answers. Errors of the two may differ in class, but lead to the same exit code.
 */
export interface Operator extends AsyncDisposable {
  /** Name of the target for people, without secrets. */
  readonly target: string;
  /** Maximum time in ms for a call. */
  readonly timeout: number;
  readonly call: Call;
  /**
   * Calls `onHint` at each hint of a change until the signal aborts or the target ends the hints. Hints may be missing. Also
   * calls it when the hints begin, because the changes before have left none.
   */
  hints(onHint: () => void, signal: AbortSignal): Promise<void>;
}

/** Reason and expected revision of a change. The operator adds the author. */
export interface ChangeMeta {
  readonly reason?: string | undefined;
  readonly expectedRevision?: number | undefined;
}
