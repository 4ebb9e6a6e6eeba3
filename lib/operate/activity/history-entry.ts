import type { LossReason, SkipReason, TermEnd } from '../../core/context/events.js';
import type { NodeIdentity } from '../../core/context/node-identity.js';

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

/** A run that has ended, or whose node has crashed or closed before its end. */
export interface RunEntry extends RunOrSkip {
  /** Tells a run that is over from the other entries. */
  readonly kind: 'run';
  /** Duration of the run in ms; absent if its node no longer lives, and has written no end. */
  readonly took?: number;
  /**
   * `lost`: the permit ended before the run did, whether the run succeeded, failed or never ended. `crashed`: the run began,
   * its node no longer lives, and neither an end nor the loss of its permit was written. The end replaces both if the node
   * was only cut off and writes it later.
   */
  readonly outcome: 'ok' | 'failed' | 'lost' | 'crashed';
  /** Message of the error with which the run failed, cut after 500 characters. */
  readonly message?: string;
  /** The person or program that asked for this run. Absent for a run that the scheduler or the application started. */
  readonly by?: string;
  /** The planned time that was missed, if this run makes up for it: cluster time in ms. */
  readonly missed?: number;
  /** Number of attempts; absent for a run without the option `retry`. */
  readonly attempts?: number;
  /** Fencing token of its permit; absent if it ran without a permit. */
  readonly token?: number;
  /** Slot of its permit; absent if it ran without a permit. */
  readonly slot?: number;
  /** Number of times that its permit was renewed during the run; absent if it never was. */
  readonly renewals?: number;
  /** How its permit ended before the run did. Only of a run with the outcome `lost`; absent for a term of leadership. */
  readonly loss?: PermitLoss;
  /** Only of a term of leadership: why it ended. */
  readonly ended?: TermEnd;
  /** Number of the run on its node and semaphore. Absent for a term of leadership that expired. */
  readonly run?: number;
  /**
   * Only of a run without an end: the last known expiry of its permit, as cluster time in ms. Nothing else runs under the permit
   * before that. Absent if it had no permit, or if its permit ended earlier.
   */
  readonly until?: number;
}

/** The end of a permit while its run went on. */
export interface PermitLoss {
  /** When the node noticed it: cluster time, ms since the epoch. */
  readonly at: number;
  /** Why it ended. */
  readonly reason: LossReason;
}

/** A run that has ended. */
export type EndedRun = RunEntry & { readonly took: number; readonly outcome: Exclude<RunEntry['outcome'], 'crashed'> };

/** A run that goes on, for 2 s or more. */
export interface RunningEntry extends RunOrSkip {
  /** Tells a run that goes on from the other entries. */
  readonly kind: 'running';
  /** Number of the run on its node and semaphore. */
  readonly run: number;
  /** The person or program that asked for this run. Absent for a run that the scheduler or the application started. */
  readonly by?: string;
  /** The planned time that was missed, if this run makes up for it: cluster time in ms. */
  readonly missed?: number;
  /** Fencing token of its permit; absent if it runs without a permit. */
  readonly token?: number;
  /** Slot of its permit; absent if it runs without a permit. */
  readonly slot?: number;
  /** How its permit ended, although the run goes on; absent while the permit is held. */
  readonly loss?: PermitLoss;
}

/**
 * The start of a run, as a node writes it, and again when the run loses its permit. Readers show it as a run that goes on,
 * that lost its permit, or that crashed.
 */
export interface StartEntry extends Omit<RunningEntry, 'kind'> {
  readonly kind: 'start';
  /** Expiry of its permit unless it is refreshed: cluster time, ms since the epoch. */
  readonly until?: number;
}

/** A permit that was refreshed and then expired. The node that dropped it writes this, not its holder. */
export interface ExpiryEntry extends Omit<RunOrSkip, 'job'> {
  readonly kind: 'expiry';
  /** Fencing token of the permit. */
  readonly token: number;
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

/** A run that is over, a run that goes on, or a run that was skipped. */
export type HistoryEntry = RunEntry | RunningEntry | SkipEntry;

/** An entry of the journal of runs. */
export type StoredRunEntry = EndedRun | StartEntry | ExpiryEntry | SkipEntry;

/**
 * A run without an end, of a node that no longer lives. A run that had lost its permit before ended by that, and not by a
 * crash. Pure.
 *
 * @param known cluster time in ms at which its permit ended, if the record or another node tells
 */
export function withoutEnd({ until: first, ...start }: StartEntry, known?: number): RunEntry {
  const { loss } = start;
  const until = loss && !STAYS.has(loss.reason) ? undefined : (known ?? first);
  return { ...start, kind: 'run', outcome: loss ? 'lost' : 'crashed', ...(until !== undefined && { until }) };
}

/** The run was cut, and may work on: its permit stays in the store until it expires. */
const STAYS: ReadonlySet<LossReason> = new Set(['closing', 'max-run-time']);

/**
 * Compares runs for `toSorted`: the newest first. Of runs that begin in one ms, the one with the higher number is the newer.
 */
export function newerFirst(one: Begun, other: Begun): number {
  return other.at - one.at || (other.run ?? 0) - (one.run ?? 0);
}

/** Identifies a job among those of all semaphores. */
export function jobKey({ semaphore, job }: { readonly semaphore: string; readonly job: string }): string {
  return `${semaphore}\n${job}`;
}

interface Begun {
  readonly at: number;
  readonly run?: number | undefined;
}
