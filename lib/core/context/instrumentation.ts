import type { DenialReason } from '../decision/denial.js';
import type { StoredPermit } from '../decision/answers.js';
import type { SkipReason } from './events.js';

/** The end of a call for a permit. */
export interface AcquireEnd {
  readonly permit?: Pick<StoredPermit, 'id' | 'slot' | 'token'> | undefined;
  /** Absent after a grant. */
  readonly reason?: DenialReason;
  /** Why the store could not be asked, or the record could not be read. */
  readonly error?: Error;
}

/** The end of a run that did not fail. */
export interface RunEnd {
  readonly executed: boolean;
  /** Present if the run was skipped. */
  readonly reason?: SkipReason;
}

/** The end of an attempt at a task. */
export interface AttemptEnd {
  readonly error?: unknown;
  readonly isFailure: boolean;
  readonly task: { readonly ending?: { readonly outcome: string } };
}

/** The work of a run begins. @param permit absent for a run without a permit */
export type Begun = (permit?: StoredPermit) => void;

/** A task, without its data. */
export interface NamedTask {
  readonly id: string;
  /** Type of the record. */
  readonly type: string;
}

/** An attempt at a task begins. */
export interface BegunAttempt extends NamedTask {
  readonly token: number;
  /** The trace of its submission, as of {@link Instrumentation.submit}. */
  readonly trace?: string;
}

/**
 * Observes the calls of a node. Each method that gets a call must make it exactly once, and return or throw what it
 * returns or throws. A context that the method sets for the call reaches the application's work. No method may throw
 * an error of its own.
 */
export interface Instrumentation {
  /** A call for a permit, with its waiting. */
  acquire<E extends AcquireEnd>(semaphore: string, acquirer: string, call: () => Promise<E>): Promise<E>;
  /** A run of a job, with the call for its permit. `begun` must be called when its work begins. */
  run<E extends RunEnd>(
    job: { readonly semaphore: string; readonly job: string },
    call: (begun: Begun) => Promise<E>,
  ): Promise<E>;
  /** An attempt at a task, with the note of its end. */
  attempt<E extends AttemptEnd>(task: BegunAttempt, call: () => Promise<E>): Promise<E>;
  /** A submission. The call gets its trace, to be kept in the task: a `traceparent` of W3C Trace Context, at most 55 characters. */
  submit<E extends { readonly outcome: string }>(task: NamedTask, call: (trace?: string) => Promise<E>): Promise<E>;
  /** A call of the store has ended. @param took ms @param error present if it failed */
  storeCall(part: string, took: number, error?: unknown): void;
  /** This node, which sweeps the tasks, has counted those that wait, by type. Types that are absent have none. */
  backlog(waiting: ReadonlyMap<string, number>): void;
}
