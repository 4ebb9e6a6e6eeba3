import { Deadline, DeadlinePassed } from '../async/deadline.js';
import type { Timers } from '../async/timers.js';
import { StoreUnavailableError } from './store.errors.js';

/**
 * Gives one reading call its own deadline.
 *
 * @param timeout ms
 * @param what names the call in the error: "list the records"
 * @throws StoreUnavailableError when no answer came in time
 */
export async function answerWithin<T>(
  timers: Timers,
  timeout: number,
  what: string,
  call: () => Promise<T>,
): Promise<T> {
  try {
    return await new Deadline(timers, timeout).race(call());
  } catch (cause) {
    if (!(cause instanceof DeadlinePassed)) throw cause;
    throw new StoreUnavailableError(`the store did not ${what} within ${timeout} ms`, { cause });
  }
}
