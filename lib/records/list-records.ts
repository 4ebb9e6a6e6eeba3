import type { Context } from '../context/context.js';
import { answerWithin } from '../stores/answer-within.js';
import { KEY_PREFIX } from '../decision/record.js';

/** All records are one answer, which may be large: it gets more time than a call for one of them. */
export const LIST_FACTOR = 5;

/** Every record's text by its key. @throws StoreUnavailableError */
export function listRecords({ store, timers, timing }: Context): Promise<Map<string, string>> {
  return answerWithin(timers, LIST_FACTOR * timing.callTimeout, 'list the records', () => store.list(KEY_PREFIX));
}

/** The same of one semaphore alone; empty when it has none. @throws StoreUnavailableError */
export async function readRecord({ store, timers, timing }: Context, name: string): Promise<Map<string, string>> {
  const key = KEY_PREFIX + name;
  const text = await answerWithin(timers, timing.callTimeout, 'read a record', () => store.read(key));
  return new Map(text === undefined ? [] : [[key, text]]);
}
