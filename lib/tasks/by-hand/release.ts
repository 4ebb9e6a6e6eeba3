import { afterWrite } from '../../core/store/after-write.js';
import { isTaskId } from '../rules/task-id.js';
import { decodeTask, encodeTask } from '../rules/task.codec.js';
import * as transitions from '../rules/transitions.js';
import { type TaskRecords, UNKNOWN } from '../records/cancel.js';

/** Answer to `release()`. */
export interface Released {
  /** Id of the task. */
  readonly id: string;
  /**
   * `released`: the program that had claimed it has lost it, and another one may claim it at once. `refused`: nothing was
   * changed. `unknown`: there is no task of this id, or it is no longer remembered.
   */
  readonly outcome: 'released' | 'refused' | 'unknown';
  /** Why, in a sentence. */
  readonly because: string;
}

/**
 * Ends the claim of a program by hand, as if the program had given the task back. The next call of the program is refused. A
 * task of a node stays: cancel it, and the signal of its handler aborts.
 *
 * @throws UnknownOutcomeError if it may be released: release it again
 * @throws StoreUnavailableError, CorruptRecordError, NewerRecordError
 */
export async function releaseTask(id: string, store: TaskRecords): Promise<Released> {
  const written = new Set<string>();
  const released: Released = { id, outcome: 'released', because: RELEASED };
  const unknown: Released = { id, outcome: 'unknown', because: UNKNOWN };
  if (!isTaskId(id)) return unknown;
  return store.texts.change<Released>(id, async (text) => {
    if (text === undefined) return { result: unknown };
    const found = decodeTask(text);
    if (written.has(found.nonce)) return { result: released };
    if (!transitions.isOfProgram(found))
      return { result: { id, outcome: 'refused', because: found.state === 'claimed' ? OF_NODE : NOT_CLAIMED } };
    const stamp = await store.stamp();
    written.add(stamp.nonce);
    const task = transitions.giveBack(found, stamp);
    const write = encodeTask(task);
    const done = async () => {
      await afterWrite(() => store.settle(task, write));
      return released;
    };
    return { write, done };
  });
}

const RELEASED = 'the next call of the program that had it is refused';
const OF_NODE = 'a node works on it, and no program: cancel it';
const NOT_CLAIMED = 'no program has it';
