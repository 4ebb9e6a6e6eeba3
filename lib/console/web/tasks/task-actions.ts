import { ApiError } from '../api/api-error.js';
import type { TaskView } from '../api/answers.js';
import { call } from '../api/call.js';
import type { Action } from '../forms/action-dialog.js';

/* The changes of a task by hand. */

type Done = () => Promise<void>;

const ENDED: ReadonlySet<TaskView['state']> = new Set(['completed', 'failed', 'crashed', 'invalid', 'cancelled']);

/** Whether a task could still be cancelled. */
export function canCancel({ state, cancel }: Pick<TaskView, 'state' | 'cancel'>): boolean {
  return !ENDED.has(state) && state !== 'awaiting' && !cancel;
}

/** Whether a task might be tried again. The node knows more, and may refuse. */
export function canRetry({ state, lastError }: Pick<TaskView, 'state' | 'lastError'>): boolean {
  return (ENDED.has(state) && state !== 'completed') || (state === 'delayed' && lastError !== undefined);
}

export function cancelAction({ id, state }: TaskView, done: Done): Action {
  const effect =
    state === 'running'
      ? 'The signal of its handler aborts, and its result is refused. It ends as cancelled when its handler ends, or with its lease.'
      : 'It ends as cancelled, and never runs.';
  return {
    title: `Cancel ${id}`,
    explanation: `${effect} Its group and its parent count it as failed.`,
    verb: 'Cancel the task',
    isDangerous: true,
    run: async (reason) => {
      const { outcome, because } = await call('cancelTask', { params: { id }, body: { reason } });
      await done();
      return outcome === 'cancelled' ? `${id} is cancelled.` : `${id}: ${because}.`;
    },
  };
}

export function retryAction({ id, state }: TaskView, done: Done): Action {
  const effect =
    state === 'delayed'
      ? 'It runs at once, and does not wait for the time of its next attempt.'
      : 'It waits for a node again, with its former data.';
  return {
    title: `Retry ${id}`,
    explanation: `${effect} Its counts of attempts and crashes begin anew.`,
    verb: 'Retry',
    run: async (reason) => {
      await call('retryTask', { params: { id }, body: { reason } });
      await done();
      return `${id} runs again.`;
    },
  };
}

/** Lets one of many run again. @returns why it was refused; undefined: it runs again */
export async function requeue(
  id: string,
  reason: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await call('retryTask', { params: { id }, body: { reason } }, { signal });
    return undefined;
  } catch (error) {
    const isOfOne = error instanceof ApiError && (error.status === 404 || error.problem.code === 'retry-refused');
    if (isOfOne) return error.message;
    throw error;
  }
}
