import { describe, expect, it } from '@jest/globals';
import { Sightings, type Verdict } from '../../../lib/clock/index.js';

const TOLERANCE = 500;
const lease = { id: 'permit', expiresAt: 1_790_000_010_000, duration: 10_000 };

/** Seen without the lease at 1,000 and with it from 2,000 on. */
function watched(): Sightings {
  const sightings = new Sightings();
  sightings.observe([], 1000);
  sightings.observe([lease], 2000);
  return sightings;
}

describe('what a node has seen of a lease', () => {
  it.each<[string, number, Verdict]>([
    ['its first sight', 2000, 'alive'],
    ['the last ms in which it could not have ended', 10_999, 'alive'],
    ['its full length after it was seen to be absent', 11_000, 'undecided'],
    ['the last ms in which it might go on', 12_499, 'undecided'],
    ['its full length and the tolerance after its first sight', 12_500, 'dead'],
    ['long after', 1_000_000, 'dead'],
  ])('at %s (%p) says that it is %p', (_when, at, verdict) => {
    expect(watched().judge(lease, at, TOLERANCE)).toBe(verdict);
  });

  it('does not change by seeing it again', () => {
    const sightings = watched();
    for (let at = 3000; at < 12_000; at += 1000) sightings.observe([lease], at);
    expect(sightings.judge(lease, 10_999, TOLERANCE)).toBe('alive');
    expect(sightings.judge(lease, 12_500, TOLERANCE)).toBe('dead');
  });

  it.each([
    ['ends later', { ...lease, expiresAt: lease.expiresAt + 1 }],
    ['ends when it did but was counted anew', { ...lease, duration: 4000 }],
  ])('begins anew when it was refreshed, so that it %s', (_how, refreshed) => {
    const sightings = watched();
    sightings.observe([refreshed], 9000);
    expect(sightings.judge(refreshed, 2000 + refreshed.duration, TOLERANCE)).not.toBe('dead');
    expect(sightings.judge(refreshed, 9000 + refreshed.duration + TOLERANCE - 1, TOLERANCE)).toBe('undecided');
    expect(sightings.judge(refreshed, 9000 + refreshed.duration + TOLERANCE, TOLERANCE)).toBe('dead');
  });

  it('begins anew when it was gone in between', () => {
    const sightings = watched();
    sightings.observe([], 5000);
    sightings.observe([lease], 6000);
    expect(sightings.judge(lease, 14_999, TOLERANCE)).toBe('alive');
    expect(sightings.judge(lease, 16_500, TOLERANCE)).toBe('dead');
  });

  it('says nothing of how old it is when it was there at the first look', () => {
    const sightings = new Sightings();
    sightings.observe([lease], 2000);
    expect(sightings.judge(lease, 2000, TOLERANCE)).toBe('undecided');
    expect(sightings.judge(lease, 12_500, TOLERANCE)).toBe('dead');
  });

  it('holds it for alive for one duration when the node looks with suspicion from its start', () => {
    const sightings = new Sightings(1500);
    sightings.observe([lease], 2000);
    expect(sightings.judge(lease, 11_499, TOLERANCE)).toBe('alive');
    expect(sightings.judge(lease, 11_500, TOLERANCE)).toBe('undecided');
  });

  it('holds a lease that it never saw for alive', () => {
    expect(watched().judge({ ...lease, id: 'other' }, 1_000_000, TOLERANCE)).toBe('alive');
  });

  it('keeps several leases apart', () => {
    const sightings = watched();
    const other = { ...lease, id: 'other' };
    sightings.observe([lease, other], 8000);
    expect(sightings.judge(lease, 12_500, TOLERANCE)).toBe('dead');
    expect(sightings.judge(other, 12_500, TOLERANCE)).toBe('undecided');
    expect(sightings.judge(other, 11_999, TOLERANCE)).toBe('alive');
  });
});
