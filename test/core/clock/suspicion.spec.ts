import { ClusterClock } from '../../../lib/core/clock/index.js';
import { FakeTime, START } from '../../support/fake-time.js';
import { Members, TOLERANCE, clockOver } from './members.js';

const DURATION = 60_000;

async function sampled(off: Record<string, number>) {
  const time = new FakeTime();
  const members = new Members(time, off);
  const over = clockOver(time, members);
  await over.clock.sample();
  await over.clock.sample();
  return { time, members, ...over };
}

describe('the cluster clock is suspect', () => {
  it.each([
    ['500 ms apart', 500, false],
    ['501 ms apart', 501, true],
  ])("when the members' clocks are %s: %p %p", async (_how, by, expected) => {
    const { clock } = await sampled({ one: 0, two: by });
    expect(clock.isSuspect).toBe(expected);
  });

  it.each([
    [500, false],
    [501, true],
    [-501, true],
    [100_000, true],
  ])("when a member's clock jumps by %p ms: %p", async (by, expected) => {
    const { clock, members } = await sampled({ one: 0 });
    members.off.set('one', by);
    await clock.sample();
    expect(clock.isSuspect).toBe(expected);
  });

  it('not when the way explains the move', async () => {
    const { clock, members } = await sampled({ one: 0 });
    members.roundTrip = 400;
    members.off.set('one', 600);
    await clock.sample();
    expect(clock.isSuspect).toBe(false);
  });

  it.each([
    [10_000, false],
    [10_001, true],
    [-10_001, true],
  ])("when a lone member is %p ms off the node's wall clock: %p", async (by, expected) => {
    const { clock } = await sampled({ one: by });
    expect(clock.isSuspect).toBe(expected);
  });

  it("not when two members agree with each other and not with the node's wall clock", async () => {
    const { clock } = await sampled({ one: 60_000, two: 60_000 });
    expect(clock.isSuspect).toBe(false);
  });

  it('with strictStart, too, tells of the first sign', async () => {
    const time = new FakeTime();
    const { clock, reasons } = clockOver(time, new Members(time, { one: 0, two: 3000 }), { strictStart: true });
    clock.start();
    await time.advance(0);
    clock.stop();
    expect(reasons).toEqual([expect.stringContaining('3000 ms apart')]);
  });

  it('until 30 s after the last sign', async () => {
    const { time, clock } = await sampled({ one: 0 });
    clock.suspect('a first sign');
    await time.advance(1000);
    clock.suspect('a second sign');
    await time.advance(29_999);
    expect(clock.isSuspect).toBe(true);
    await time.advance(1);
    expect(clock.isSuspect).toBe(false);
  });

  it('and judges a lease only when its duration has passed twice since then', async () => {
    const { time, clock } = await sampled({ one: 0 });
    expect(clock.mayJudge(DURATION)).toBe(true);
    clock.suspect('a sign');
    await time.advance(30_000 + 2 * DURATION - 1);
    expect([clock.mayJudge(DURATION), clock.mayJudge(DURATION - 1)]).toEqual([false, true]);
    await time.advance(1);
    expect(clock.mayJudge(DURATION)).toBe(true);
  });

  it('from the start, when that is asked for, but reports nothing: it is no sign of a fault', async () => {
    const time = new FakeTime();
    const { clock, reasons } = clockOver(time, new Members(time, { one: 0 }), { strictStart: true });
    clock.start();
    await time.advance(0);
    expect(clock.mayJudge(DURATION)).toBe(false);
    expect(clock.report().suspect).toContain('strictStart');
    await time.advance(30_000 + 2 * DURATION);
    expect(clock.mayJudge(DURATION)).toBe(true);
    expect(reasons).toEqual([]);
    clock.stop();
  });

  it.each([
    ['its machine slept, so that it can not hold the members against what it knew', 0, 5000, 'moved apart'],
    ['no member told its time for more than 30 s', 30_001, 0, '30 s'],
  ])('when %s', async (_why, silence, sleep, reason) => {
    const { time, clock, reasons } = await sampled({ one: 0 });
    await time.advance(silence);
    time.jumpWall(sleep);
    await clock.sample();
    expect(reasons).toEqual([expect.stringContaining(reason)]);
    expect(clock.isSuspect).toBe(true);
  });

  it('and says so once, with the last reason in its report', async () => {
    const { clock, reasons } = await sampled({ one: 0 });
    clock.suspect('a first sign');
    clock.suspect('a second sign');
    expect(reasons).toEqual(['a first sign']);
    expect(clock.report().suspect).toBe('a second sign');
  });

  it('and says so again when it was settled in between', async () => {
    const { time, clock, reasons } = await sampled({ one: 0 });
    clock.suspect('a first sign');
    await time.advance(30_000);
    clock.suspect('a second sign');
    expect(reasons).toEqual(['a first sign', 'a second sign']);
  });

  it('and names the member that moved', async () => {
    const { clock, members, reasons } = await sampled({ one: 0, two: 0 });
    members.off.set('two', 400);
    await clock.sample();
    expect(reasons).toEqual([]);
    members.off.set('two', 3000);
    await clock.sample();
    expect(reasons[0]).toMatch(/^the clock of member two moved by \d+ ms/);
  });

  describe('while a member was not heard, which may be behind those that were', () => {
    it('since a reading of the first round was lost, until the next, which is as long', async () => {
      const time = new FakeTime();
      const members = new Members(time, { one: 0, two: 0 });
      const { clock, reasons } = clockOver(time, members);
      members.failsAfter(1);
      await expect(clock.sample()).rejects.toThrow('lost');
      expect([clock.isFresh, clock.mayJudge(DURATION)]).toEqual([true, false]);
      expect(clock.report().suspect).toBe('only 1 of 2 members have told their time');
      expect(reasons).toEqual([]);

      const before = members.readings;
      await clock.sample();
      expect(members.readings - before).toBe(8);
      expect(clock.mayJudge(DURATION)).toBe(true);
      expect(clock.report()).toEqual({ offset: 0, errorBound: 0, spread: 0, members: 2 });
    });

    it('since others asked in between, and had all of its turns', async () => {
      const time = new FakeTime();
      const members = new Members(time, { one: 0, two: 0 });
      const { clock } = clockOver(time, members);
      members.passedOver = 1;
      await clock.sample();
      expect(clock.mayJudge(DURATION)).toBe(false);
      members.passedOver = 0;
      await clock.sample();
      expect(clock.mayJudge(DURATION)).toBe(true);
    });

    it('since it was not heard for more than 30 s, though it is there', async () => {
      const { clock, members, time } = await sampled({ one: 0, two: 0 });
      members.passedOver = 1;
      await time.advance(30_000);
      await clock.sample();
      expect(clock.mayJudge(DURATION)).toBe(true);
      await time.advance(1);
      await clock.sample();
      expect(clock.mayJudge(DURATION)).toBe(false);
    });

    it('since the store does not say which members there are', async () => {
      const time = new FakeTime();
      const clock = new ClusterClock(
        { now: () => Promise.resolve({ time: START, member: 'one' }), members: () => 0 },
        time,
        { tolerance: TOLERANCE },
      );
      await clock.sample();
      expect([clock.mayJudge(DURATION), clock.report().suspect]).toEqual([
        false,
        expect.stringContaining('which members'),
      ]);
    });

    it('not after a later round that was cut short, with the store or without it', async () => {
      const { clock, members } = await sampled({ one: 0, two: 0 });
      for (const seen of [undefined, 0]) {
        members.seen = seen;
        members.failsAfter(1);
        await expect(clock.sample()).rejects.toThrow('lost');
        expect(clock.mayJudge(DURATION)).toBe(true);
      }
    });

    it('since a reading of every round so far was lost or slow, though as many told their time as there are', async () => {
      const time = new FakeTime();
      const members = new Members(time, { one: 0, two: 0 });
      const { clock } = clockOver(time, members);
      members.failsAfter(3);
      await expect(clock.sample()).rejects.toThrow('lost');
      expect([clock.report().members, clock.mayJudge(DURATION)]).toEqual([2, false]);
      expect(clock.report().suspect).toBe('no round of readings has come back complete yet');
      await clock.sample();
      expect(clock.mayJudge(DURATION)).toBe(true);
    });

    it.each([
      [9, 18],
      [40, 64],
    ])('not when all of %p were heard, or 32 of them', async (count, readings) => {
      const names = Array.from({ length: count }, (_, index) => [`member ${index}`, 0]);
      const time = new FakeTime();
      const members = new Members(time, Object.fromEntries(names));
      const { clock } = clockOver(time, members);
      await clock.sample();
      expect(members.readings).toBe(readings);
      expect(clock.mayJudge(DURATION)).toBe(true);
    });
  });
});
