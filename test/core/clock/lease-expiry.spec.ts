import { LeaseExpiry } from '../../../lib/core/clock/index.js';
import { FakeTime, START } from '../../support/fake-time.js';
import { Members, TOLERANCE, clockOver } from './members.js';

const DURATION = 10_000;

/** A `LeaseExpiry` that sees a lease for the first time, `age` ms after it was stamped by a right clock; `sampleAge` in ms. */
async function seeing(age: number, { sampleAge = 0 } = {}) {
  const time = new FakeTime();
  const members = new Members(time, { one: 0 });
  const { clock } = clockOver(time, members);
  await clock.sample();
  const expiry = new LeaseExpiry(clock, time, TOLERANCE);
  await time.advance(sampleAge);
  const lease = { id: 'permit', expiresAt: START + sampleAge + DURATION - age, duration: DURATION };
  expiry.observe([lease]);
  return { time, members, clock, expiry, lease };
}

describe('a lease', () => {
  it('is over when cluster time and the tolerance have passed its end', async () => {
    const { time, clock, expiry, lease } = await seeing(4000);
    await time.advance(6499);
    await clock.sample();
    expect([expiry.timeUntilExpiry(lease), expiry.isExpired(lease)]).toEqual([1, false]);
    await time.advance(1);
    expect([expiry.timeUntilExpiry(lease), expiry.isExpired(lease)]).toEqual([0, true]);
  });

  it('is not over by a sample that is older than the first sight of it: the clock may have been set back', async () => {
    const { time, members, clock, expiry, lease } = await seeing(4000, { sampleAge: 1 });
    await time.advance(6500);
    expect([expiry.isExpired(lease), expiry.takeSampleWish()]).toEqual([false, true]);
    members.off.set('one', -3000);
    await clock.sample();
    expect([expiry.isExpired(lease), expiry.takeSampleWish()]).toEqual([false, false]);
  });

  it('wishes for a sample once, and only where that could end it', async () => {
    const { time, clock, expiry, lease } = await seeing(4000, { sampleAge: 1 });
    expect([expiry.isExpired(lease), expiry.takeSampleWish()]).toEqual([false, false]);
    await time.advance(6500);
    expiry.isExpired(lease);
    expect([expiry.takeSampleWish(), expiry.takeSampleWish()]).toEqual([true, false]);
    await clock.sample();
    expect([expiry.isExpired(lease), expiry.takeSampleWish()]).toEqual([true, false]);
  });

  it('is over a duration and the tolerance after it was first seen, whatever cluster time says', async () => {
    const { time, clock, expiry, lease } = await seeing(-1_000_000);
    clock.suspect('a sign');
    await time.advance(DURATION + TOLERANCE - 1);
    expect([expiry.timeUntilExpiry(lease), expiry.isExpired(lease)]).toEqual([1, false]);
    await time.advance(1);
    expect(expiry.isExpired(lease)).toBe(true);
  });

  it('is not over by cluster time while that is suspect', async () => {
    const { time, clock, expiry, lease } = await seeing(100_000);
    clock.suspect('a sign');
    expect([expiry.timeUntilExpiry(lease), expiry.isExpired(lease)]).toEqual([DURATION + TOLERANCE, false]);
    await time.advance(DURATION + TOLERANCE);
    expect(expiry.isExpired(lease)).toBe(true);
  });

  it('is alive for one duration after it was seen to be absent, whatever cluster time says', async () => {
    const { time, expiry, lease } = await seeing(0);
    expiry.observe([]);
    await time.advance(1000);
    const stale = { ...lease, id: 'next', expiresAt: START - 100_000 };
    expiry.observe([stale]);
    expect([expiry.timeUntilExpiry(stale), expiry.isExpired(stale)]).toEqual([DURATION - 1000, false]);
  });

  it('that was never seen is alive', async () => {
    const { expiry, lease } = await seeing(1_000_000);
    expect(expiry.timeUntilExpiry({ ...lease, id: 'other' })).toBe(Infinity);
    expect(expiry.isExpired({ ...lease, id: 'other' })).toBe(false);
  });
});
