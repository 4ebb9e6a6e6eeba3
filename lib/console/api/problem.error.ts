import { GatekeeperError } from '../../core/decision/index.js';
import type { ProblemCode } from './problem-codes.js';
import type { Problem } from './problems.js';

/** A refusal of a call by the console itself. Its code decides the HTTP status. */
export class ProblemError extends GatekeeperError {
  static override readonly className = 'ProblemError';
  constructor(
    readonly code: ProblemCode,
    detail: string,
    /** More fields of the answer. */
    readonly extra: Partial<Problem> = {},
    options?: ErrorOptions,
  ) {
    super(detail, options);
  }
}
