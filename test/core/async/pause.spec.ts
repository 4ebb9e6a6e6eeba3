import type { NodeClock } from '../../../lib/core/async/node-clock.js';
import { pause } from '../../../lib/core/async/pause.js';

/** A clock whose timers fire only when the test says so. */
function manualClock() {
  const timers = new Set<() => void>();
  const delays: [number, boolean | undefined][] = [];
  const clock: Pick<NodeClock, 'schedule'> = {
    schedule(action, delay, isAwaited) {
      delays.push([delay, isAwaited]);
      timers.add(action);
      return () => timers.delete(action);
    },
  };
  return { clock: clock as NodeClock, timers, delays };
}

describe('a pause', () => {
  it('lasts as long as the clock says, and leaves nothing behind', async () => {
    const { clock, timers, delays } = manualClock();
    const { signal } = new AbortController();
    const paused = pause(clock, 250, { signal });
    expect(delays).toEqual([[250, true]]);
    for (const fire of timers) fire();
    await paused;
    expect(timers.size).toBe(0);
  });

  it('ends early, without an error, when its signal aborts, and takes its timer back', async () => {
    const { clock, timers } = manualClock();
    const ending = new AbortController();
    const paused = pause(clock, 60_000, { signal: ending.signal });
    ending.abort();
    await paused;
    expect(timers.size).toBe(0);
  });

  it('does not begin once its signal has aborted', async () => {
    const { clock, delays } = manualClock();
    await pause(clock, 60_000, { signal: AbortSignal.abort() });
    expect(delays).toEqual([]);
  });

  it('of the background keeps no process alive', () => {
    const { clock, delays } = manualClock();
    void pause(clock, 10, { isAwaited: false });
    expect(delays).toEqual([[10, false]]);
  });
});
