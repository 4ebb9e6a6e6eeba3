import { GatekeeperError } from '../../decision/index.js';
import type { Problem, ProblemCode } from '../api/index.js';

/** A call that is refused for what is wrong with the call itself, not with what it asks for. */
export class ProblemError extends GatekeeperError {
  constructor(
    readonly code: ProblemCode,
    detail: string,
    /** What else the answer says. */
    readonly extra: Partial<Problem> = {},
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }
}
