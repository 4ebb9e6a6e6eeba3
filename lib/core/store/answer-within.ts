import { Deadline, DeadlinePassed } from '../async/deadline.js';
import type { Timers } from '../async/timers.js';
import { unanswered } from './store.errors.js';

/**
 * Runs one reading call with its own deadline.
 *
 * @param timeout ms
 * @param what the call in words, for the error: "list the records"
 * @throws StoreUnavailableError if there was no answer in time
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
    throw unanswered(what, timeout, cause);
  }
}
