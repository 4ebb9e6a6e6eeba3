import { GatekeeperError } from '../../decision/index.js';
import type { Problem, ProblemCode } from '../api/index.js';

/** A refusal for a fault of the call itself, not of the change that it asks for. */
export class ProblemError extends GatekeeperError {
  constructor(
    readonly code: ProblemCode,
    detail: string,
    /** Further fields of the answer. */
    readonly extra: Partial<Problem> = {},
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }
}
