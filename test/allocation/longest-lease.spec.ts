import type { Round, RoundInput } from '../../lib/allocation/round/round.js';
import { LEASE, aPage, aRegistry, aRoot, after, anEntry, planned } from './maps.js';

const resources = [...'abcd'];

describe('the leader writes, as the longest lease that an owner may have,', () => {
  const HOUR = 3_600_000;
  /** b owned c and d with a lease of an hour, and a takes part, too. */
  const hourOfB = (registry: RoundInput['registry'], changes: Partial<RoundInput['found']> = {}) => {
    const members = new Map([
      ['a#0', ['p1']],
      ['b#0', ['p2']],
    ]);
    const owned = new Map([
      ['p1', aPage('ab')],
      ['p2', aPage('cd')],
    ]);
    const found = aRoot({ lease: HOUR, members, ...changes });
    return planned({ found, pages: { owned, limbo: new Map() }, registry, resources });
  };
  const rootOf = (round: Round) => (round.kind === 'commit' ? round.root : undefined);

  it('not that of a node that is over', () => {
    const round = hourOfB(aRegistry([anEntry('a#0')], { ended: new Set(['b#0']) }));
    expect(rootOf(round)).toMatchObject({ lease: LEASE, members: new Map([['a#0', expect.anything()]]) });
  });

  it('that of a living node, although it owns nothing: the next owner map may give it something', () => {
    const ended = new Set(['b#0']);
    const third = (weight: number) => anEntry('c#0', { duration: 3 * LEASE, weight });
    expect(rootOf(hourOfB(aRegistry([anEntry('a#0'), third(0)], { ended })))).toMatchObject({ lease: 3 * LEASE });
    expect(rootOf(hourOfB(aRegistry([anEntry('a#0'), third(1)], { ended })))).toMatchObject({ lease: 3 * LEASE });
  });

  it.each([
    ['vanished a moment ago', { vanished: new Set(['b#0']) }],
    ['has no entry, and the registry was not watched for its lease', {}],
  ])('that of a former owner map while a member %s', (_, changes) => {
    const input = [anEntry('a#0'), anEntry('c#0')];
    expect(rootOf(hourOfB(aRegistry(input, changes), { term: 0 }))).toMatchObject({
      lease: HOUR,
      members: new Map<string, unknown>([
        ['a#0', expect.anything()],
        ['b#0', ['p2']],
      ]),
    });
  });

  it('that of a former owner map while a member that gave everything back is absent', () => {
    const drained = new Set(['b']);
    const orders = { pins: new Map<string, string>(), drained: new Set(['a']) };
    const found = aRoot({ members: new Map([['a#0', ['p1']]]) });
    const all = { found, pages: { owned: new Map([['p1', aPage('abcd')]]), limbo: new Map() }, resources, orders };
    const registry = aRegistry([anEntry('a#0', { duration: HOUR }), anEntry('b#0')]);
    const taken = after({ ...all, registry }, planned({ ...all, registry }));
    expect(taken.found).toMatchObject({ lease: HOUR });
    const absent = {
      ...taken,
      registry: aRegistry([anEntry('b#0', { acked: undefined })], { vanished: new Set(['a#0']) }),
    };
    expect(
      rootOf(planned({ ...absent, orders: { pins: new Map(), drained }, found: { ...taken.found!, term: 0 } })),
    ).toMatchObject({
      lease: HOUR,
      members: new Map([['a#0', []]]),
    });
  });
});
