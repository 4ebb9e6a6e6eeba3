import { isTaskId } from '../task-id.js';
import { decodeTask, encodeTask } from '../task.codec.js';
import * as transitions from '../transitions.js';
import { type TaskRecords, UNKNOWN, offerOrSettle } from './cancel.js';

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
  for (let text = isTaskId(id) ? await store.texts.read(id) : undefined; ;) {
    if (text === undefined) return { id, outcome: 'unknown', because: UNKNOWN };
    const found = decodeTask(text);
    if (written.has(found.nonce)) return { id, outcome: 'released', because: RELEASED };
    if (!transitions.isOfProgram(found))
      return { id, outcome: 'refused', because: found.state === 'claimed' ? OF_NODE : NOT_CLAIMED };
    const stamp = await store.stamp();
    written.add(stamp.nonce);
    const task = transitions.giveBack(found, stamp);
    const next = encodeTask(task);
    const outcome = await store.texts.write(id, text, next);
    if (outcome.isWritten) {
      await offerOrSettle(store, task, next);
      return { id, outcome: 'released', because: RELEASED };
    }
    text = outcome.found;
  }
}

const RELEASED = 'the next call of the program that had it is refused';
const OF_NODE = 'a node works on it, and no program: cancel it';
const NOT_CLAIMED = 'no program has it';
