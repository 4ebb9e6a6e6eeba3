import type { Dedup, Unique } from '../rules/submit-options.js';
import { type NewTask, type Submitted, isKnown } from '../rules/submission.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import type { Task } from '../rules/task.js';
import type { TaskStore } from './task-store.js';
import { isFrom, resolve } from './unique.js';

/** The answer, with the task if a running attempt at it is to stop. */
export interface UniqueSubmitted {
  readonly answer: Submitted;
  readonly task?: Task;
}

/**
 * Submits a task, or changes the unfinished one of its id. Each change is one write by comparison of the task's record,
 * so there is one task of the key at any time. After an error, submit it again: it may then run once more.
 *
 * @throws UnknownOutcomeError if it may have been submitted
 * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
 */
export async function submitUnique(
  store: TaskStore,
  newTask: Omit<NewTask, 'member'>,
  dedup: Dedup,
  unique: Unique,
): Promise<UniqueSubmitted> {
  const { id } = newTask;
  for (;;) {
    const answer = await store.create(newTask, dedup);
    if (answer.outcome === 'created') return { answer };
    const found = await store.texts.read(id);
    const task = found === undefined ? undefined : decodeTask(found);
    if (task?.state === 'finished' && dedup === 'retained') return { answer };
    // It has ended since.
    if (!task || task.state === 'finished') continue;
    const stamp = await store.stamp();
    const resolved = resolve(task, newTask, unique, stamp);
    if (!resolved) return { answer: isKnown(task) };
    const text = encodeTask(resolved.task);
    const written = await store.texts.write(id, found, text);
    const isMine = written.isWritten || (written.found !== undefined && isFrom(decodeTask(written.found), stamp.nonce));
    if (!isMine) continue;
    if (written.isWritten) await store.hints.follow(found!, text);
    const { outcome, because } = resolved;
    return { answer: { id, outcome, because }, task: resolved.task };
  }
}
