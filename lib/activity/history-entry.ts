import type { SkipReason } from '../context/events.js';
import type { NodeIdentity } from '../context/node-identity.js';

interface RunOrSkip {
  readonly semaphore: string;
  readonly job: string;
  readonly node: NodeIdentity;
  /** Cluster time in ms: of a run, when it began. */
  readonly at: number;
}

/** A run, as the history keeps it once it has ended. */
export interface RunEntry extends RunOrSkip {
  /** Tells a run from a skip. */
  readonly kind: 'run';
  /** ms */
  readonly took: number;
  /** `lost`: it ended without the permit that it began with, successful or not. */
  readonly outcome: 'ok' | 'failed' | 'lost';
  /** The message of the error that it failed with. */
  readonly message?: string;
  /** Absent when it ran without a permit. */
  readonly token?: number;
  /** Slot of its permit; absent when it ran without one. */
  readonly slot?: number;
}

/**
 * First of consecutive skips of a job on a node with the same reason. The rest are only counted: all nodes but one skip at
 * each tick, and an entry for each skip would push everything else out.
 */
export interface SkipEntry extends RunOrSkip {
  /** Tells a skip from a run. */
  readonly kind: 'skip';
  /** Why it was skipped. */
  readonly reason: SkipReason;
  /** The former series of skips with another reason, and its length. */
  readonly before?: { readonly reason: SkipReason; readonly count: number };
}

/** A run that ended, or a run that was skipped. */
export type HistoryEntry = RunEntry | SkipEntry;
