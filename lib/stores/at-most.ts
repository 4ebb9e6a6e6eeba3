import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits for work to end, but not for ever: what is left of it goes on by itself.
 *
 * @param ms the longest that it is waited for
 * @throws what the work throws in this time; what it throws later is dropped
 */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  const tooLong = pause(ms, undefined, patience).catch(() => undefined); // told to stop: the work has ended
  try {
    await Promise.race([work, tooLong]);
  } finally {
    patience.abort();
  }
}
