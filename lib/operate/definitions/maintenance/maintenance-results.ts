import type { LeftAlone } from './window-status.js';

/** A semaphore that could not be changed, with its error. */
export interface FailedChange {
  /** Name of the semaphore. */
  readonly name: string;
  /** Message of its error. */
  readonly error: string;
}

/** Result of the start of a window. */
export interface MaintenanceStart {
  /** Names that this call paused. */
  readonly paused: readonly string[];
  /** Names that another window had paused. They stay paused until both windows have ended. */
  readonly shared: readonly string[];
  /** Names that match and were paused before, or that changed since the window paused them. Its end leaves them alone. */
  readonly left: readonly LeftAlone[];
  /** Names that could not be paused, each with its error. */
  readonly failed: readonly FailedChange[];
  /** Number of semaphores that are left for the next call. */
  readonly remaining: number;
  /** The id that all pauses of the window share in the audit log. */
  readonly bulk: string;
}

/** Result of the end of a window. */
export interface MaintenanceEnd {
  /** Names that were resumed. */
  readonly resumed: readonly string[];
  /** Names that the window had paused and that were left alone: changed since, or wanted by another window. */
  readonly left: readonly LeftAlone[];
  /** Names that could not be resumed, each with its error. */
  readonly failed: readonly FailedChange[];
  /** Number of semaphores that are left for the next call. The window has ended when there are none and none failed. */
  readonly remaining: number;
  /** The id that all resumes of this end share in the audit log. */
  readonly bulk: string;
}
