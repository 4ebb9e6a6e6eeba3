import type { SkipReason, TermEnd } from '../context/events.js';
import type { NodeIdentity } from '../context/node-identity.js';

/** The job of the runs that show terms of leadership. */
export const LEADERSHIP_JOB = 'leadership';

interface RunOrSkip {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job: "JobsService.export", or the option `job` of `run()`. */
  readonly job: string;
  /** The node on which it ran or was skipped. */
  readonly node: NodeIdentity;
  /** Start of the run, or time of the skip: cluster time, ms since the epoch. */
  readonly at: number;
}

/** A run that has ended. */
export interface RunEntry extends RunOrSkip {
  /** Tells a run from a skip. */
  readonly kind: 'run';
  /** Duration of the run in ms. */
  readonly took: number;
  /** `lost`: the permit ended before the run did, whether the run succeeded or failed. */
  readonly outcome: 'ok' | 'failed' | 'lost';
  /** Message of the error with which the run failed, cut after 500 characters. */
  readonly message?: string;
  /** Fencing token of its permit; absent if it ran without a permit. */
  readonly token?: number;
  /** Slot of its permit; absent if it ran without a permit. */
  readonly slot?: number;
  /** Only of a term of leadership: why it ended. */
  readonly ended?: TermEnd;
}

/**
 * The first of consecutive skips of a job on a node with the same reason. The other skips are only counted. All nodes
 * but one skip each tick, so an entry for each skip would push all other entries out of the journal.
 */
export interface SkipEntry extends RunOrSkip {
  /** Tells a skip from a run. */
  readonly kind: 'skip';
  /** Why it was skipped. */
  readonly reason: SkipReason;
  /**
   * The series of skips just before this one, which had another reason; absent if there was none since the last run.
   */
  readonly before?: {
    /** Why these runs were skipped. */
    readonly reason: SkipReason;
    /** Number of skips in that series. */
    readonly count: number;
  };
}

/** A run that ended, or a run that was skipped. */
export type HistoryEntry = RunEntry | SkipEntry;
