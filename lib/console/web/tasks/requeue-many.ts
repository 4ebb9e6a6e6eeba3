import type { Batch } from '../batches/use-batches.js';
import type { Action } from '../forms/action-dialog.js';
import { count } from '../parts/format.js';
import { requeue } from './task-actions.js';

/** Tasks of one batch. */
const BATCH = 10;

/** Requeues tasks one after another, batch by batch. After a fault the next batch begins with the same task. */
export function requeueNext(
  ids: readonly string[],
  reason: string | undefined,
): (signal: AbortSignal) => Promise<Batch> {
  const left = [...ids];
  return async (signal) => {
    const done: string[] = [];
    const failed: { name: string; error: string }[] = [];
    // A batch without a success would end the whole work.
    while (left.length > 0 && (done.length === 0 || done.length + failed.length < BATCH)) {
      const id = left[0]!;
      try {
        const refusal = await requeue(id, reason, signal);
        if (refusal === undefined) done.push(id);
        else failed.push({ name: id, error: refusal });
      } catch (fault) {
        return { done, failed, remaining: left.length, fault };
      }
      left.shift();
    }
    return { done, failed, remaining: left.length };
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
