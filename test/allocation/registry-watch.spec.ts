import { isOver } from '../../lib/allocation/round/registry-view.js';
import { type RegistryPage, RegistryWatch } from '../../lib/allocation/round/registry-watch.js';
import { LEASE, NOW, TOLERANCE, anEntry } from './maps.js';

const bound = { lease: LEASE, tolerance: TOLERANCE };
const page = (seq: number, incs: readonly string[], changes: Partial<RegistryPage> = {}): RegistryPage => ({
  born: 'p1',
  seq,
  entries: incs.map((inc) => anEntry(inc, { beat: seq })),
  ended: [],
  ...changes,
});

/** A watch that takes its readings at these monotonic times. Cluster time goes on with it, unless given. */
function watching() {
  const watch = new RegistryWatch(TOLERANCE);
  return (at: number, found: RegistryPage | undefined, earliest = NOW + at, sampledAt = at + 5) =>
    watch.observe({ pages: [found], sent: at, received: at + 5, earliest, sampledAt });
}

describe('a lease in the registry', () => {
  it('is living until its end, by cluster time, and then over', () => {
    const observe = watching();
    const first = page(1, ['a#0']);
    expect([...observe(0, first).living.keys()]).toEqual(['a#0']);
    expect(isOver(observe(LEASE + TOLERANCE - 1, first), 'a#0', bound)).toBe(false);
    expect(isOver(observe(LEASE + TOLERANCE, first), 'a#0', bound)).toBe(true);
  });

  it('is over at the latest one lease after the first sight, whatever cluster time says', () => {
    const observe = watching();
    const first = page(1, ['a#0']);
    observe(0, first, -Infinity);
    expect(isOver(observe(LEASE + TOLERANCE + 4, first, -Infinity), 'a#0', bound)).toBe(false);
    expect(isOver(observe(LEASE + TOLERANCE + 5, first, -Infinity), 'a#0', bound)).toBe(true);
  });

  it('is not over by clocks that were asked before it was first seen: the clock that stamped it may have been set back', () => {
    const observe = watching();
    observe(0, page(1, []), NOW, 0);
    const stamped = page(2, ['a#0'], { entries: [anEntry('a#0', { expiresAt: NOW - 98_000 + LEASE })] });
    observe(3000, stamped, NOW + 3000, 0);
    expect(isOver(observe(LEASE + 1000, stamped, NOW + LEASE + 1000, 0), 'a#0', bound)).toBe(false);
    expect(isOver(observe(LEASE + 1001, stamped, NOW - 100_000 + LEASE + 1001), 'a#0', bound)).toBe(false);
    expect(isOver(observe(LEASE + 3000, stamped, NOW + LEASE + 3000, 3005), 'a#0', bound)).toBe(true);
  });

  it('is living for one lease after the last reading without it, although cluster time jumps ahead', () => {
    const observe = watching();
    observe(0, page(1, []));
    const joined = page(2, ['a#0']);
    expect(isOver(observe(100, joined, NOW + 1_000_000), 'a#0', bound)).toBe(false);
    expect(isOver(observe(LEASE, joined, NOW + 1_000_000), 'a#0', bound)).toBe(true);
  });

  it('starts anew with each beat', () => {
    const observe = watching();
    observe(0, page(1, ['a#0']), -Infinity);
    expect(observe(LEASE, page(2, ['a#0']), -Infinity)).toMatchObject({ nextChangeIn: LEASE + TOLERANCE + 5 });
  });

  it('a trap of the simulated protocol: the beat tells leases apart, so an end 100 s ahead does not make them long', () => {
    const observe = watching();
    const jumped = { ...page(1, []), entries: [anEntry('a#0', { expiresAt: NOW + 100_000 + LEASE })] };
    observe(0, jumped);
    const corrected = { ...page(2, []), entries: [anEntry('a#0', { beat: 2, expiresAt: NOW + 2000 + LEASE })] };
    observe(2000, corrected);
    expect(isOver(observe(2000 + LEASE + TOLERANCE, corrected), 'a#0', bound)).toBe(true);
  });

  it('is over when its node marked it as ended', () => {
    const observe = watching();
    expect(isOver(observe(0, page(1, [], { ended: ['a#0'] })), 'a#0', bound)).toBe(true);
  });
});

describe('a node that is absent from the registry', () => {
  it('is over only when all pages were watched for a lease', () => {
    const observe = watching();
    observe(0, page(1, []));
    expect(isOver(observe(LEASE + TOLERANCE + 4, page(2, [])), 'a#0', bound)).toBe(false);
    expect(isOver(observe(LEASE + TOLERANCE + 5, page(3, [])), 'a#0', bound)).toBe(true);
  });

  it.each([
    { when: 'was lost and made again', lost: page(1, [], { born: 'p2' }) },
    { when: 'was put back in an older form', lost: page(1, []) },
    { when: 'is missing', lost: undefined },
  ])('may still live when the page $when', ({ lost }) => {
    const observe = watching();
    observe(0, page(5, []));
    expect(isOver(observe(50_000, lost), 'a#0', bound)).toBe(false);
  });

  it('may still live when its entry vanished from a page that went on', () => {
    const observe = watching();
    observe(0, page(5, ['a#0']));
    observe(40_000, page(90, ['a#0']), -Infinity);
    const view = observe(40_100, page(91, []));
    expect(view.vanished).toEqual(new Set(['a#0']));
    expect(isOver(view, 'a#0', bound)).toBe(false);
    expect(isOver(observe(40_005 + LEASE + TOLERANCE, page(95, [])), 'a#0', bound)).toBe(true);
  });

  it('is over one lease after its last renewal was first seen, although another node dropped its entry meanwhile', () => {
    const observe = watching();
    const last = page(5, ['a#0']);
    observe(0, last, -Infinity);
    observe(LEASE, last, -Infinity);
    const dropped = page(6, []);
    const view = observe(LEASE + 100, dropped, -Infinity);
    expect(isOver(view, 'a#0', bound)).toBe(false);
    expect(view.nextChangeIn).toBe(TOLERANCE + 5 - 100);
    expect(isOver(observe(LEASE + TOLERANCE + 5, dropped, -Infinity), 'a#0', bound)).toBe(true);
  });

  it('may still live when an old page came back, in which its lease has ended', () => {
    const observe = watching();
    observe(0, page(5, ['a#0']));
    observe(40_000, page(90, ['a#0']));
    expect(isOver(observe(40_100, page(5, ['a#0'])), 'a#0', bound)).toBe(false);
  });
});
