import { systemClock } from '../async/node-clock.js';
import { pause } from '../async/pause.js';

/**
 * Waits for the end of work for a limited time. Unfinished work continues in the background.
 *
 * @param ms longest wait
 * @throws the error of the work in this time; later errors are dropped
 */
export async function atMost(ms: number, work: Promise<unknown>): Promise<void> {
  const patience = new AbortController();
  try {
    await Promise.race([work, pause(systemClock, ms, patience)]);
  } finally {
    patience.abort();
  }
}
