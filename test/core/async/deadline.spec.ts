import { Deadline, DeadlinePassed } from '../../../lib/core/async/deadline.js';
import { Timers } from '../../../lib/core/async/timers.js';
import { FakeTime } from '../../support/fake-time.js';

const never = new Promise<never>(() => undefined);

function started(timeout = 2000) {
  const time = new FakeTime();
  const timers = new Timers(time);
  return { time, timers, deadline: new Deadline(timers, timeout) };
}

describe('a call with a deadline', () => {
  it('ends at the deadline, however long it waited before it was sent', async () => {
    const { time, deadline } = started();
    await time.advance(500);
    let passed: unknown;
    deadline.race(never).catch((error: unknown) => (passed = error));
    await time.advance(1499);
    expect(passed).toBeUndefined();
    await time.advance(1);
    expect(passed).toBeInstanceOf(DeadlinePassed);
  });

  it.each([
    ['an answer', () => Promise.resolve('answer'), 'answer'],
    ['an error', () => Promise.reject(new Error('refused')), 'refused'],
  ])('ends with %s that comes in time, and leaves no timer', async (_what, call, expected) => {
    const { time, deadline } = started();
    const outcome = await deadline.race<string>(call()).catch((error: Error) => error.message);
    expect([outcome, time.pending]).toEqual([expected, 0]);
  });

  it('shares one timer with other calls, which sets it earlier for an earlier deadline', async () => {
    const { time, timers } = started();
    const passed: number[] = [];
    for (const timeout of [3000, 1000, 2000, 1000]) {
      new Deadline(timers, timeout).race(never).catch(() => passed.push(timeout));
    }
    expect(time.pending).toBe(1);
    await time.advance(999);
    expect(passed).toEqual([]);
    await time.advance(1);
    expect([passed, time.pending]).toEqual([[1000, 1000], 1]);
    await time.advance(2000);
    expect([passed, time.pending]).toEqual([[1000, 1000, 2000, 3000], 0]);
  });

  it.each<[string, (time: FakeTime, timers: Timers) => Promise<void> | void]>([
    ['passes', (time) => time.advance(1000)],
    ['passes late, after a freeze', (time) => (time.freeze(3000), time.advance(0))],
    ['ends at the close', (_time, timers) => timers.close()],
  ])('may cancel others that end with it when it %s', async (_when, end) => {
    const { time, timers } = started();
    const rung: string[] = [];
    const cancels: (() => void)[] = [];
    timers.set(900, () => (rung.push('first'), cancels.forEach((cancel) => cancel())));
    for (const at of [1000, 901, 950]) cancels.push(timers.set(at, () => rung.push(`at ${at}`)));
    await end(time, timers);
    expect([rung, time.pending]).toEqual([['first'], 0]);
  });

  it('may set another one that is due at once: it passes too, but not in between', async () => {
    const { time, timers } = started();
    const rung: string[] = [];
    timers.set(1000, () => (rung.push('one'), timers.set(0, () => rung.push('new'))));
    timers.set(1000, () => rung.push('two'));
    await time.advance(1000);
    expect([rung, time.pending]).toEqual([['one', 'two', 'new'], 0]);
  });

  it('ends when the gatekeeper closes, and leaves no timer', async () => {
    const { time, timers, deadline } = started();
    const waiting = [deadline.race(never), deadline.race(never), new Deadline(timers, 60_000).race(never)];
    timers.close();
    for (const call of waiting) await expect(call).rejects.toThrow(DeadlinePassed);
    expect(time.pending).toBe(0);
  });
});

it('a deadline that has an answer does not end another call', async () => {
  const { time, timers, deadline } = started();
  let passed: unknown;
  new Deadline(timers, 3000).race(never).catch((error: unknown) => (passed = error));
  await deadline.race(Promise.resolve());
  await time.advance(2999);
  expect(passed).toBeUndefined();
  await time.advance(1);
  expect(passed).toBeInstanceOf(DeadlinePassed);
});

it('many deadlines in any order pass in the order of their times, and those that were cancelled never', async () => {
  const { time, timers } = started();
  const passed: number[] = [];
  const ats = Array.from({ length: 500 }, (_, index) => 1 + ((index * 7919) % 1000));
  const cancels = ats.map((at) => timers.set(at, () => passed.push(at)));
  cancels.forEach((cancel, index) => index % 3 === 0 && cancel());
  await time.advance(1000);
  expect(passed).toEqual(ats.filter((_, index) => index % 3 !== 0).toSorted((one, other) => one - other));
  expect(time.pending).toBe(0);
});
