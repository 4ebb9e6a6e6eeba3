import { StoreUnavailableError } from '../../../lib/core/store/index.js';
import { FakeTime, START } from '../../support/fake-time.js';
import { Members, clockOver } from './members.js';

/** A node's clock over some members, after its first samples. */
async function sampled(off: Record<string, number>, samples = 3) {
  const time = new FakeTime();
  const members = new Members(time, off);
  const over = clockOver(time, members);
  for (let count = 0; count < samples; count++) await over.clock.sample();
  return { time, members, ...over };
}

describe('cluster time', () => {
  it("is the store's, whatever the node's own wall clock says", async () => {
    const { time, clock, passed } = await sampled({ one: 0 });
    time.jumpWall(5000);
    await clock.sample();
    expect(passed()).toEqual([0, 0]);
  });

  it("lies between the lowest and the highest of the members' clocks", async () => {
    const { passed } = await sampled({ one: 300, two: 100, three: 200 });
    expect(passed()).toEqual([100, 300]);
  });

  it('goes on by the monotonic clock between samples, in whole ms', async () => {
    const { time, passed } = await sampled({ one: 0 });
    await time.advance(1234.5);
    expect(passed()).toEqual([1234, 1234]);
  });

  it('counts a clock that was set back as before, too, for the 30 s in which every node must have noticed', async () => {
    const { time, members, clock, passed } = await sampled({ one: 0 });
    members.off.set('one', -3000);
    await clock.sample();
    expect(passed()).toEqual([-3000, 0]);
    for (let count = 0; count < 3; count++) {
      await time.advance(10_000);
      await clock.sample();
    }
    expect(passed()).toEqual([27_000, 30_000]);
    await time.advance(1);
    expect(passed()).toEqual([27_001, 27_001]);
  });

  it('follows a clock that was set ahead at once', async () => {
    const { members, clock, passed } = await sampled({ one: 0 });
    members.off.set('one', 3000);
    await clock.sample();
    expect(passed()).toEqual([3000, 3000]);
  });

  it('remembers the highest of several steps back', async () => {
    const { members, clock, passed } = await sampled({ one: 0 });
    for (const off of [-3000, -6000]) {
      members.off.set('one', off);
      await clock.sample();
    }
    expect(passed()).toEqual([-6000, 0]);
  });

  it('forgets what a clock was before it was set back, however it moves later', async () => {
    const { time, members, clock, passed } = await sampled({ one: 3_600_000 });
    for (const off of [0, 600]) {
      members.off.set('one', off);
      await clock.sample();
      await time.advance(31_000);
    }
    await clock.sample();
    expect(passed()).toEqual([62_600, 62_600]);
    members.off.set('one', 0);
    await clock.sample();
    expect(passed()).toEqual([62_000, 62_600]);
  });

  it('goes on by what was last heard while no member tells its time', async () => {
    const { time, passed } = await sampled({ one: 100, two: 300 });
    await time.advance(60_000);
    expect(passed()).toEqual([60_100, 60_300]);
  });

  it('counts the way: the answer was read in the middle of it', async () => {
    const { time, members, clock, passed } = await sampled({ one: 0 }, 0);
    members.roundTrip = 400;
    await clock.sample();
    expect(passed()).toEqual([time.monotonic(), time.monotonic()]);
  });

  it('goes by the sample that was under way shortest', async () => {
    const { time, members, clock } = await sampled({ one: 0 });
    members.roundTrip = 400;
    await clock.sample();
    expect(clock.report().errorBound).toBe(0);
    expect(clock.earliest()).toBe(time.monotonic() + START);
  });

  it('takes no part of a reading that was under way longer than the tolerance', async () => {
    const { time, members, clock } = await sampled({ one: 0 }, 0);
    members.roundTrip = 501;
    await expect(clock.sample()).rejects.toThrow(StoreUnavailableError);
    expect(clock.isFresh).toBe(false);
    members.roundTrip = 500;
    await clock.sample();
    expect(clock.isFresh).toBe(true);
    expect(clock.earliest()).toBe(time.monotonic() + START);
  });

  it('forgets a member that was not heard of for 30 s', async () => {
    const { time, members, clock, passed } = await sampled({ low: 0, high: 400 });
    members.off.delete('low');
    for (let count = 0; count < 4; count++) {
      await time.advance(8000);
      await clock.sample();
    }
    expect(passed()).toEqual([32_400, 32_400]);
    expect(clock.report().members).toBe(1);
  });
});

describe('the cluster clock', () => {
  it('is not fresh before the first sample', async () => {
    const { clock } = await sampled({ one: 0 }, 0);
    expect(clock.isFresh).toBe(false);
  });

  it('is fresh for 30 s after a sample, and no longer', async () => {
    const { time, clock } = await sampled({ one: 0 });
    await time.advance(30_000);
    expect(clock.isFresh).toBe(true);
    await time.advance(1);
    expect(clock.isFresh).toBe(false);
  });

  it.each([
    ['the machine slept', 5000],
    ['the wall clock was set back', -5000],
  ])('is not fresh after %s, until it has sampled again', async (_how, by) => {
    const { time, clock } = await sampled({ one: 0 });
    time.jumpWall(by);
    expect(clock.isFresh).toBe(false);
    await clock.sample();
    expect(clock.isFresh).toBe(true);
  });

  it('follows the members at once when the machine slept, also those that did not answer yet', async () => {
    const { time, members, clock, passed } = await sampled({ one: 0, two: 0 });
    // The monotonic clock stood still for 8 s.
    time.jumpWall(8000);
    members.off.set('one', 8000);
    members.off.delete('two');
    await clock.sample();
    expect(passed()).toEqual([8000, 8000]);
  });

  it('samples at its start and then every 10 s, until it is stopped', async () => {
    const { time, members, clock } = await sampled({ one: 0 }, 0);
    clock.start();
    await time.advance(0);
    expect(members.readings).toBe(8);
    await time.advance(10_000);
    expect(members.readings).toBe(10);
    clock.stop();
    await time.advance(60_000);
    expect(members.readings).toBe(10);
    expect(time.pending).toBe(0);
  });

  it('tells when its last sample was begun, unless that brought nothing', async () => {
    const { time, members, clock } = await sampled({ one: 0 }, 0);
    expect(clock.sampledAt).toBe(-Infinity);
    await clock.sample();
    const first = time.monotonic();
    expect(clock.sampledAt).toBe(first);
    await time.advance(1000);
    members.roundTrip = 501;
    await clock.sample();
    expect(clock.sampledAt).toBe(first);
  });

  it('tells when its last sample was begun, also when a later reading of it failed', async () => {
    const { time, members, clock } = await sampled({ one: 0 });
    await time.advance(1000);
    const before = members.readings;
    const { read } = members;
    members.read = () => (members.readings > before ? Promise.reject(new Error('away')) : read());
    await expect(clock.sample()).rejects.toThrow('away');
    expect(clock.sampledAt).toBe(time.monotonic());
  });

  it('goes on sampling after one that failed', async () => {
    const { time, members, clock } = await sampled({ one: 0 }, 0);
    members.failure = new StoreUnavailableError('down');
    clock.start();
    await time.advance(0);
    members.failure = undefined;
    await time.advance(10_000);
    expect(clock.isFresh).toBe(true);
    clock.stop();
  });

  it('tells who asks for a sample that the store can not be asked', async () => {
    const { members, clock } = await sampled({ one: 0 });
    members.failure = new StoreUnavailableError('down');
    await expect(clock.sample()).rejects.toThrow('down');
  });

  it('reads once for all who ask at the same time', async () => {
    const { members, clock } = await sampled({ one: 0 }, 0);
    await Promise.all([clock.sample(), clock.sample(), clock.sample()]);
    expect(members.readings).toBe(8);
  });

  it("reports how far it is off the node's wall clock, how sure it is, and of how many members", async () => {
    const { time, members, clock } = await sampled({ one: 100, two: 300 }, 0);
    expect(clock.report()).toEqual({ spread: 0, members: 0 });
    members.roundTrip = 40;
    await clock.sample();
    expect(clock.report()).toEqual({ offset: 100, errorBound: 20, spread: 200, members: 2 });
    expect(time.pending).toBe(0);
  });
});
