import { systemClock } from '../async/node-clock.js';
import { pause } from '../async/pause.js';

/**
 * Waits for work to end, for a bounded time: unfinished work goes on by itself.
 *
 * @param ms longest wait
 * @throws what the work throws in this time; what it throws later is dropped
 */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  try {
    await Promise.race([work, pause(systemClock, ms, patience)]);
  } finally {
    patience.abort();
  }
}
