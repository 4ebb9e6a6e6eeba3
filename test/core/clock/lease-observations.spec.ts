import { LeaseObservations } from '../../../lib/core/clock/index.js';

const TOLERANCE = 500;
const lease = { id: 'permit', expiresAt: 1_790_000_010_000, duration: 10_000 };

/** Seen without the lease at 1,000 and with it from 2,000 on. */
function watched(): LeaseObservations {
  const observations = new LeaseObservations(TOLERANCE);
  observations.observe([], 1000);
  observations.observe([lease], 2000);
  return observations;
}

describe('what a node has seen of a lease', () => {
  it('bounds its end: a duration from when it was seen to be absent, a duration and the tolerance from when it was seen', () => {
    expect(watched().endOf(lease)).toEqual({ notBefore: 11_000, notAfter: 12_500, firstSeen: 2000 });
  });

  it('does not change by seeing it again', () => {
    const observations = watched();
    for (let at = 3000; at < 12_000; at += 1000) observations.observe([lease], at);
    expect(observations.endOf(lease)).toEqual(watched().endOf(lease));
  });

  it.each([
    ['ends later', { ...lease, expiresAt: lease.expiresAt + 1 }],
    ['ends when it did but was counted anew', { ...lease, duration: 4000 }],
  ])('begins anew when it was refreshed, so that it %s', (_how, refreshed) => {
    const observations = watched();
    observations.observe([refreshed], 9000);
    const { duration } = refreshed;
    const end = { notBefore: 2000 + duration, notAfter: 9000 + duration + TOLERANCE, firstSeen: 9000 };
    expect(observations.endOf(refreshed)).toEqual(end);
  });

  it('begins anew when it was gone in between', () => {
    const observations = watched();
    observations.observe([], 5000, [lease]);
    observations.observe([lease], 6000);
    expect(observations.endOf(lease)).toEqual({ notBefore: 15_000, notAfter: 16_500, firstSeen: 6000 });
  });

  it('says nothing of how old it is when it was there at the first look', () => {
    const observations = new LeaseObservations(TOLERANCE);
    observations.observe([lease], 2000);
    expect(observations.endOf(lease)).toEqual({ notBefore: -Infinity, notAfter: 12_500, firstSeen: 2000 });
  });

  it('is nothing of a lease that was never there', () => {
    expect(watched().endOf({ ...lease, id: 'other' })).toBeUndefined();
  });

  it('keeps several leases apart', () => {
    const observations = watched();
    const other = { ...lease, id: 'other' };
    observations.observe([lease, other], 8000);
    expect(observations.endOf(lease)).toEqual(watched().endOf(lease));
    expect(observations.endOf(other)).toEqual({ notBefore: 12_000, notAfter: 18_500, firstSeen: 8000 });
  });

  it('does not change when only other leases are named', () => {
    const observations = watched();
    observations.observe([{ ...lease, id: 'other' }], 8000);
    observations.observe([], 9000, [{ ...lease, id: 'other' }]);
    expect(observations.endOf(lease)).toEqual(watched().endOf(lease));
    expect(observations.endOf({ ...lease, id: 'other' })).toBeUndefined();
  });

  it('does not change when it is among those of both versions', () => {
    const observations = watched();
    observations.observe([lease], 8000, [lease]);
    expect(observations.endOf(lease)).toEqual(watched().endOf(lease));
  });

  it('begins anew for a refresh that names the lease before it as gone', () => {
    const observations = watched();
    const refreshed = { ...lease, expiresAt: lease.expiresAt + 1 };
    observations.observe([refreshed], 9000, [lease]);
    expect(observations.endOf(refreshed)).toMatchObject({ notBefore: 12_000, firstSeen: 9000 });
    expect(observations.endOf(lease)).toBeUndefined();
  });
});
