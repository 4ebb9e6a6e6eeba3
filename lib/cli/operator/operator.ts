import type { z } from 'zod';
import type { AnswerOf, Sent } from '../../console/api/calls.js';
import type { Operation } from '../../console/api/operation.js';
// Not from the index of a folder, because that also loads Nest, which takes long.
import { OPERATIONS } from '../../console/api/routes.js';

export { OPERATIONS };
export type { AnswerOf, BodyOf, Sent } from '../../console/api/calls.js';

/** All semaphores with their holders and warnings, at one moment. */
export type Overview = Pick<AnswerOf<'semaphores'>, 'now' | 'semaphores'>;

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
