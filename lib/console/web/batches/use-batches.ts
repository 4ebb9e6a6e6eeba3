import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, messageOf } from '../api/api-error.js';
import { count } from '../parts/format.js';
import { announce } from '../parts/notices.js';

/** Result of the call for one batch. The lists contain names. */
export interface Batch {
  readonly done: readonly string[];
  readonly failed: readonly { readonly name: string; readonly error: string }[];
  readonly remaining: number;
  /** The error that ended the batch in its middle; absent if there was none. */
  readonly fault?: unknown;
}

export interface Progress {
  readonly done: number;
  /** Name and last error of each failed semaphore. */
  readonly failed: ReadonlyMap<string, string>;
  readonly remaining: number;
  readonly isRunning: boolean;
  /** Why the work stopped before its end; absent if it did not. */
  readonly fault?: string;
}

/**
 * Semaphores per call: small enough that calls answer quickly and the progress is visible. Each call takes at least one page
 * of the lists of changes that can be taken back, and these are bounded.
 */
export const BATCH = 250;
/** ms until the next try after the rate limit refused a change. */
const A_MOMENT = 1000;

/**
 * Makes a change in batches until nothing remains. Stops after a batch without any success, so that failures are not
 * retried for ever. If the user starts it again, it continues with the rest.
 */
export function useBatches() {
  const [progress, setProgress] = useState<Progress>();
  const isWanted = useRef(true);
  const leaving = useRef(new AbortController());
  useEffect(() => () => leaving.current.abort(), []);
  const run = async (next: (signal: AbortSignal) => Promise<Batch>): Promise<Progress> => {
    const { signal } = leaving.current;
    isWanted.current = true;
    let current: Progress = { done: 0, failed: new Map(), remaining: 0, isRunning: true };
    const show = (change: Partial<Progress>) => {
      current = { ...current, ...change };
      if (!signal.aborted) setProgress(current);
    };
    show({});
    try {
      for (let isOver = false; !isOver;) {
        const { remaining } = current;
        const batch = await next(signal).catch((fault: unknown) => ({ done: [], failed: [], remaining, fault }));
        show(added(current, batch));
        const isUnwanted = !isWanted.current || signal.aborted;
        if (batch.fault === undefined) isOver = batch.remaining === 0 || batch.done.length === 0 || isUnwanted;
        else if (isUnwanted || !isOfRate(batch.fault)) throw batch.fault;
        else await new Promise((resolve) => setTimeout(resolve, A_MOMENT));
      }
      show({ isRunning: false });
    } catch (error) {
      show({ isRunning: false, fault: messageOf(error) });
    }
    return current;
  };
  const stop = () => (isWanted.current = false);
  return { progress, run, stop, clear: () => setProgress(undefined) };
}

/** Whether the rate limit refused a call. The limit allows some more changes each second. */
function isOfRate(fault: unknown): boolean {
  return fault instanceof ApiError && fault.problem.code === 'too-many-changes';
}

function added(before: Progress, { done, failed, remaining }: Batch): Partial<Progress> {
  const all = new Map([...before.failed, ...failed.map(({ name, error }) => [name, error] as const)]);
  for (const name of done) all.delete(name);
  return { done: before.done + done.length, failed: all, remaining };
}

/**
 * Announces the result to screen readers.
 *
 * @param verb the past participle: "migrated"
 * @param one the changed thing, in the singular
 */
export function announceProgress({ done, failed, fault }: Progress, verb: string, one = 'semaphore'): void {
  if (fault !== undefined && done === 0) return announce(`Nothing was ${verb}: ${fault}`, { isBad: true });
  if (fault !== undefined) return announce(`${count(done, one)} ${verb}. It stopped: ${fault}`, { isBad: true });
  if (done + failed.size === 0) return announce(`Nothing was ${verb}: there was nothing to do.`);
  if (failed.size === 0) return announce(`${count(done, one)} ${verb}.`);
  announce(`${failed.size} of ${count(done + failed.size, one)} could not be ${verb}.`, { isBad: true });
}
