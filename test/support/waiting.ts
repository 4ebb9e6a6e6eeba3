import { performance } from 'node:perf_hooks';

/**
 * Measures for how long this process only waited, in ms. A machine that is busy makes work longer, but not the time for
 * which an answer, a timer or a connection is waited for.
 */
export function waitingSince(): () => number {
  const began = performance.eventLoopUtilization();
  return () => performance.eventLoopUtilization(began).idle;
}
