import { setTimeout as pause } from 'node:timers/promises';

/**
 * Waits for work to end, for a bounded time: unfinished work goes on by itself.
 *
 * @param ms longest wait
 * @throws what the work throws in this time; what it throws later is dropped
 */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  const tooLong = pause(ms, undefined, patience).catch(() => undefined); // aborted: the work has ended
  try {
    await Promise.race([work, tooLong]);
  } finally {
    patience.abort();
  }
}
