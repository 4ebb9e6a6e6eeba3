import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, messageOf } from '../api/api-error.js';
import { count } from '../parts/format.js';
import { announce } from '../parts/notices.js';

/** Result of one call of a batch. */
export interface Batch {
  readonly done: readonly string[];
  readonly failed: readonly { readonly name: string; readonly error: string }[];
  readonly remaining: number;
}

export interface Progress {
  readonly done: number;
  /** Each once, with its last error. */
  readonly failed: ReadonlyMap<string, string>;
  readonly remaining: number;
  readonly isRunning: boolean;
  /** Why it stopped before the end. */
  readonly fault?: string;
}

/** Semaphores per call: small enough that calls answer quickly and the progress is visible. */
export const BATCH = 25;
/** ms until the next try after a node refused further changes. */
const A_MOMENT = 1000;

/**
 * Runs a change in batches until nothing remains. A batch without any success ends it, so failures are not retried for
 * ever. Starting again continues with the rest.
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
        const batch = await letThrough(
          () => next(signal),
          () => isWanted.current && !signal.aborted,
        );
        show(added(current, batch));
        isOver = batch.remaining === 0 || batch.done.length === 0 || !isWanted.current;
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

/** Repeats a call that was refused by the rate limit, which allows some more changes each second. */
async function letThrough(call: () => Promise<Batch>, isWanted: () => boolean): Promise<Batch> {
  for (;;) {
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApiError) || error.problem.code !== 'too-many-changes' || !isWanted()) throw error;
      await new Promise((resolve) => setTimeout(resolve, A_MOMENT));
    }
  }
}

function added(before: Progress, { done, failed, remaining }: Batch): Partial<Progress> {
  const all = new Map([...before.failed, ...failed.map(({ name, error }) => [name, error] as const)]);
  for (const name of done) all.delete(name);
  return { done: before.done + done.length, failed: all, remaining };
}

/** The result in a few words, for a screen reader. `verb`: "migrated" */
export function announceProgress({ done, failed, fault }: Progress, verb: string): void {
  if (fault !== undefined && done === 0) return announce(`Nothing was ${verb}: ${fault}`, { isBad: true });
  if (failed.size === 0) return announce(`${count(done, 'semaphore')} ${verb}.`, { isBad: fault !== undefined });
  announce(`${failed.size} of ${count(done + failed.size, 'semaphore')} could not be ${verb}.`, { isBad: true });
}
