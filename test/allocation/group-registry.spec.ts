import type { MemberEntry, MemberPage } from '../../lib/core/members/index.js';
import { GroupRegistry } from '../../lib/allocation/round/group-registry.js';
import { GROUP } from './groups.js';
import { LEASE, NOW, TOLERANCE } from './maps.js';

const entry = (inc: string, changes: Partial<MemberEntry> = {}): MemberEntry => ({
  instance: inc,
  inc,
  beat: 1,
  expiresAt: NOW + LEASE,
  duration: LEASE,
  group: 'default',
  acquirer: inc,
  host: inc,
  metadata: {},
  startedAt: NOW,
  groups: [{ group: GROUP, weight: 1, top: 0 }],
  ...changes,
});

const page = (...entries: MemberEntry[]): MemberPage => ({ v: 1, nonce: 'n', seq: 1, at: NOW, born: 'b', entries });

function observing(...entries: MemberEntry[]): GroupRegistry {
  const registry = new GroupRegistry(GROUP, TOLERANCE);
  registry.observe({ pages: [page(...entries)], sent: 1000, received: 1001, earliest: NOW, sampledAt: 1000 });
  return registry;
}

describe('the members of a group as a node last read them', () => {
  it.each([
    ['a renewal, which puts the entry behind the others', page(entry('b'), entry('a', { beat: 2 })), false],
    ['a join', page(entry('a'), entry('b'), entry('c')), true],
    ['an end', page(entry('a'), entry('b', { ended: true })), true],
    ['a node that takes part no more', page(entry('a'), entry('b', { groups: [] })), true],
  ])('after %s', (_, next, isStale) => {
    const registry = observing(entry('a'), entry('b'));
    registry.notice(0, next);
    expect(registry.isStale).toBe(isStale);
  });
});

describe('the groups of one node', () => {
  it('look through the members once together', () => {
    let looks = 0;
    const groups = Array.from({ length: 50 }, (_, index) => ({ group: `${GROUP}${index}`, weight: 1, top: 0 }));
    const watched = Object.defineProperty(entry('a'), 'groups', {
      get: () => {
        looks++;
        return groups;
      },
    });
    const reading = { pages: [page(watched)], sent: 1000, received: 1001, earliest: NOW, sampledAt: 1000 };
    const registries = groups.map(({ group }) => new GroupRegistry(group, TOLERANCE));
    for (const registry of registries) registry.observe(reading);
    expect(registries.map(({ view }) => view?.living.size)).toEqual(groups.map(() => 1));
    expect(looks).toBe(1);
  });
});

describe('readings that come before a group has looked at the one before', () => {
  const reading = (at: number, found: MemberPage) => {
    return { pages: [found], sent: at, received: at + 1, earliest: -Infinity, sampledAt: 0 };
  };
  const livingIn = ({ view }: GroupRegistry) => [...view!.living.keys()];

  it('are looked at once, and each answer is by the last one', () => {
    const registry = observing(entry('a'));
    expect(registry.catchUp()).toBe(true);
    let looks = 0;
    const skipped = Object.defineProperty(page(entry('a')), 'entries', { get: () => (looks++, [entry('a')]) });
    registry.observe(reading(2000, skipped));
    registry.observe(reading(3000, page(entry('a'), entry('b'))));
    expect(livingIn(registry)).toEqual(['a', 'b']);
    expect(registry.view!.readFrom).toBe(3000);
    expect([registry.catchUp(), registry.catchUp(), looks]).toEqual([true, false, 0]);
  });

  it('all count if a page was lost or went back: a lease that only one of them shows may still run', () => {
    const registry = observing(entry('a'));
    registry.observe(reading(2000, { ...page(entry('a'), entry('b')), seq: 3 }));
    registry.observe(reading(3000, { ...page(entry('a')), seq: 2 }));
    expect(livingIn(registry)).toEqual(['a']);
    expect([...registry.view!.vanished]).toEqual(['b']);
  });

  it('make a page count no more that changed before', () => {
    const registry = observing(entry('a'));
    registry.catchUp();
    registry.notice(0, page(entry('a'), entry('b')));
    registry.observe(reading(2000, page(entry('a'))));
    expect([registry.isStale, registry.catchUp()]).toEqual([false, false]);
    registry.notice(0, page(entry('a'), entry('b')));
    expect([registry.catchUp(), registry.isStale]).toEqual([true, true]);
  });
});
