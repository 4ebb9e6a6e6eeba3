import type { Batch } from '../batches/use-batches.js';
import type { Action } from '../forms/action-dialog.js';
import { count } from '../parts/format.js';
import { requeue } from './task-actions.js';

/** Tasks of one batch. */
const BATCH = 10;

/**
 * Requeues tasks one after another, batch by batch. If a call is refused because of the rate of changes, the same batch
 * goes on with the rest.
 */
export function requeueNext(
  ids: readonly string[],
  reason: string | undefined,
): (signal: AbortSignal) => Promise<Batch> {
  const left = [...ids];
  let done: string[] = [];
  let failed: { name: string; error: string }[] = [];
  return async (signal) => {
    // A batch without a success would end the whole work.
    while (left.length > 0 && (done.length === 0 || done.length + failed.length < BATCH)) {
      const id = left[0]!;
      const refusal = await requeue(id, reason, signal);
      left.shift();
      if (refusal === undefined) done.push(id);
      else failed.push({ name: id, error: refusal });
    }
    const batch = { done, failed, remaining: left.length };
    [done, failed] = [[], []];
    return batch;
  };
}

/** The dialog before a requeue. @param start begins it; the page shows the progress */
export function requeueAction(ids: readonly string[], start: (reason: string | undefined) => void): Action {
  const [first] = ids;
  return {
    title: ids.length === 1 ? `Requeue ${first}` : `Requeue ${count(ids.length, 'task')}`,
    explanation:
      'They wait for a node again, with their former data. Their counts of attempts and crashes begin anew. One that its group or parent still counts as failed is refused.',
    verb: 'Requeue',
    run: (reason) => Promise.resolve(void start(reason)),
  };
}
