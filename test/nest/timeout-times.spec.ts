import { systemClock } from '../../lib/core/async/node-clock.js';
import type { Registry } from '../../lib/nest/scheduler.js';
import { JobInfos } from '../../lib/nest/job-infos.js';

const DELAY = 1_000;

/** A node whose scheduler starts its timers at 0, and which has booted at 100: other modules were slow. */
function nodeWithTimeout() {
  const node = { time: 0 };
  const metadata = { semaphore: 'soon', options: {} } as never;
  const schedule = { kind: 'timeout', expression: String(DELAY) } as const;
  const registry = { getTimeouts: () => ['soon'] } as Partial<Registry> as Registry;
  const clock = { ...systemClock, wall: () => node.time };
  const cards = new JobInfos(
    [{ method: 'Soon.once', job: 'Soon.once', metadata, isStatic: true, schedule }],
    registry,
    clock,
  );
  node.time = 100;
  cards.booted();
  return {
    at: (time: number) => (node.time = time),
    call: () => cards.observe({ type: 'run-started', semaphore: 'soon', job: 'Soon.once', run: 1 }),
    next: () => cards.all[0]!.schedule!.next,
  };
}

describe('the next time of a timeout', () => {
  it('is there until it is over', () => {
    const { at, next } = nodeWithTimeout();
    expect(next()).toBe(100 + DELAY);
    at(99 + DELAY);
    expect(next()).toBe(100 + DELAY);
    at(100 + DELAY);
    expect(next()).toBeUndefined();
  });

  it('is gone once its job ran, though its timer started before the node had booted', () => {
    const { at, call, next } = nodeWithTimeout();
    at(DELAY);
    call();
    expect(next()).toBeUndefined();
  });

  it('stays when the method was called before', () => {
    const { at, call, next } = nodeWithTimeout();
    at(DELAY - 2);
    call();
    expect(next()).toBe(100 + DELAY);
  });
});
