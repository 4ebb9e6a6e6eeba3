import { Deadline, DeadlinePassed } from '../async/deadline.js';
import type { Alarm } from '../async/timers.js';
import { StoreUnavailableError } from './store.errors.js';

/**
 * One reading call with a deadline of its own.
 *
 * @param timeout ms
 * @param what names the call in the error: "list the records"
 * @throws StoreUnavailableError when no answer came in time
 */
export async function answerWithin<T>(alarm: Alarm, timeout: number, what: string, call: () => Promise<T>): Promise<T> {
  try {
    return await new Deadline(alarm, timeout).race(call());
  } catch (cause) {
    if (!(cause instanceof DeadlinePassed)) throw cause;
    throw new StoreUnavailableError(`the store did not ${what} within ${timeout} ms`, { cause });
  }
}
