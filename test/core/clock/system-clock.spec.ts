import { systemClock } from '../../../lib/core/async/node-clock.js';

describe("the system's clock", () => {
  it('calls once after the delay', async () => {
    const began = systemClock.monotonic();
    await new Promise<void>((resolve) => {
      systemClock.schedule(resolve, 20);
      // Our timers don't keep the process alive; this test does.
      setTimeout(() => undefined, 200);
    });
    expect(systemClock.monotonic() - began).toBeGreaterThanOrEqual(19);
  });

  it.each([2 ** 31, 1e12, Infinity])(
    'does not fire at once when the delay of %p ms is more than a timer takes',
    async (delay) => {
      let hasFired = false;
      const cancel = systemClock.schedule(() => (hasFired = true), delay);
      await new Promise((resolve) => setTimeout(resolve, 20));
      cancel();
      expect(hasFired).toBe(false);
    },
  );

  it('does not call what was cancelled', async () => {
    let hasFired = false;
    systemClock.schedule(() => (hasFired = true), 1)();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(hasFired).toBe(false);
  });

  it('tells the wall clock in ms since the epoch', () => {
    expect(Math.abs(systemClock.wall() - Date.now())).toBeLessThan(1000);
  });
});
