import type { DefinitionChange } from './answers.js';

/** The body of an error: application/problem+json. */
export interface Problem {
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  /** Faults of a bad request: "field: fault". */
  readonly faults?: readonly string[];
  /** The current revision and its author, after a conflict. */
  readonly revision?: number;
  readonly change?: DefinitionChange;
}

/** The API refused a call. With status 0, no server could be reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    /** HTTP status; 0 without an answer. */
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.detail ?? problem.title ?? `the node answered with status ${status}`);
  }

  get isConflict(): boolean {
    return this.problem.code === 'edit-conflict';
  }

  /**
   * Whether no node answered. The error of a proxy has no code, but every error of a node has one, also if its store is
   * unreachable.
   */
  get isOutage(): boolean {
    return this.status === 0 || (this.status >= 500 && this.problem.code === undefined);
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
