import { AsyncLocalStorage } from 'node:async_hooks';
import type { StoredPermit } from '../decision/index.js';

/** A run that a person or program asked for, or that makes up for a missed one. No scheduler has started it. */
export interface RequestedRun {
  /** Name of the semaphore. */
  readonly semaphore: string;
  /** Name of the job. */
  readonly job: string;
  /** The person or program that asked. The events and the history show it. */
  readonly by?: string;
  /** The planned time that was missed: cluster time in ms. The events and the history show it. */
  readonly missed?: number;
  /** ms to wait for a permit. */
  readonly wait: number;
  /** Aborts when the run is no longer wanted. Then the wait for a permit ends. */
  readonly signal: AbortSignal;
  /**
   * Takes the request for this node. Called once, under the permit. Never rejects.
   *
   * @returns false if it must not run here: another node has taken it, or it has expired
   */
  claim(permit: StoredPermit): Promise<boolean>;
  /** Notes the end of the run, while its permit is still held. Never rejects. */
  ended(end: RequestedEnd): Promise<void>;
}

/** The end of a requested run. */
export interface RequestedEnd {
  /** ms */
  readonly took: number;
  /** Whether the permit was lost before. */
  readonly isLost: boolean;
  /** Present if the run failed. */
  readonly error?: unknown;
}

interface Asked {
  readonly request: RequestedRun;
  /** Whether a run has begun for it. A second run in the same call is the application's own. */
  isUsed: boolean;
}

/** The method finds its request by this, so that decorators above the guard also run. */
const storage = new AsyncLocalStorage<Asked>();

/** Calls a guarded method. Its run is the requested one. */
export function withRequestedRun<T>(request: RequestedRun, call: () => T): T {
  return storage.run({ request, isUsed: false }, call);
}

/** The request for the run of this job that this code belongs to. Each request is given once. */
export function takeRequestedRun(semaphore: string, job: string): RequestedRun | undefined {
  const asked = storage.getStore();
  if (!asked || asked.isUsed || asked.request.semaphore !== semaphore || asked.request.job !== job) return undefined;
  asked.isUsed = true;
  return asked.request;
}
