import type { ParticipantEntry } from '../../lib/allocation/round/registry-view.js';
import { LastMembershipChange } from '../../lib/allocation/round/group-registry.js';

/** Readings of the registry: monotonic ms, the living nodes, and those that have shut down. */
type Reading = readonly [at: number, living: string, hasLeft?: string];

function since(...readings: readonly Reading[]): number {
  const calm = new LastMembershipChange();
  for (const [at, living, hasLeft = ''] of readings) {
    const entries = [...living].map((inc) => [inc, { inc } as ParticipantEntry] as const);
    calm.observe(new Map(entries), (inc) => hasLeft.includes(inc), at);
  }
  return calm.since;
}

describe('The settle delay', () => {
  it.each<[string, number, readonly Reading[]]>([
    ['the first reading', 5, [[5, 'ab']]],
    ['a join', 9, [[5, 'ab'], [9, 'abc'], [12, 'abc']]], // prettier-ignore
    ['a node that shut down', 9, [[5, 'abc'], [9, 'ab', 'c'], [12, 'ab', 'c']]], // prettier-ignore
    ['a restart within one look', 9, [[5, 'abc'], [9, 'abd', 'c']]], // prettier-ignore
    ['no lease that runs out: its node has been gone for a lease', 5, [[5, 'abc'], [9, 'ab'], [12, 'a']]], // prettier-ignore
    ['an entry that was lost and is back', 12, [[5, 'abc'], [9, 'ab'], [12, 'abc']]], // prettier-ignore
  ])('counts from %s', (_, expected, readings) => {
    expect(since(...readings)).toBe(expected);
  });
});
