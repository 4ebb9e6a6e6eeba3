import { termOf } from '../../lib/allocation/round/plan-round.js';
import type { RoundInput } from '../../lib/allocation/round/round.js';
import { LEASE, NOW, TOLERANCE, aPage, aRegistry, aRoot, after, anEntry, anInput, mapOf, planned } from './maps.js';

/** The first token that is granted at {@link NOW}. */
const TOKEN = NOW * 1024;

const resources = [...'abcd'];

/** Node a owns everything. */
const ownedByA = (changes: Partial<RoundInput> = {}): Partial<RoundInput> => ({
  found: aRoot({ members: new Map([['a#0', ['p1']]]) }),
  pages: { owned: new Map([['p1', aPage('abcd')]]), limbo: new Map() },
  registry: aRegistry([anEntry('a#0')]),
  resources,
  ...changes,
});

/** Node b has joined, and a must give back c and d. */
function bJoined(): Partial<RoundInput> {
  const input = ownedByA({ registry: aRegistry([anEntry('a#0'), anEntry('b#0')]) });
  return after(input, planned(input));
}

const acked = (seq: number, born = 'b1') => ({ acked: { born, seq } });

describe('the leader', () => {
  it('grants free resources with a new token, from cluster time', () => {
    const input = { registry: aRegistry([anEntry('a#0'), anEntry('b#0')]), resources };
    const round = planned(input);
    expect(mapOf(after({ ...input, pages: { owned: new Map(), limbo: new Map() } }, round))).toBe(
      `a#0:ab@${TOKEN} b#0:cd@${TOKEN}`,
    );
    expect(round).toMatchObject({ kind: 'commit', why: 'changed', root: { seq: 8, lastToken: TOKEN } });
  });

  it('writes nothing while nothing changes', () => {
    expect(planned(ownedByA())).toMatchObject({ kind: 'idle', why: 'settled', counts: { owned: 4, unowned: 0 } });
  });

  it('counts resources without an owner although the strategy throws', () => {
    const strategy = () => {
      throw new Error('a mistake');
    };
    const { options } = anInput({});
    expect(planned(ownedByA({ resources: [...resources, 'e'], options: { ...options, strategy } }))).toMatchObject({
      kind: 'idle',
      why: 'strategy-failed',
      error: expect.anything(),
      counts: { owned: 4, unowned: 1 },
    });
  });

  it('takes away first, and grants only after the acknowledgement', () => {
    const revoked = bJoined();
    expect(mapOf(revoked)).toBe('a#0:ab@50 limbo:cd(a#0/8)');
    expect(planned({ ...revoked, registry: aRegistry([anEntry('a#0', acked(7)), anEntry('b#0')]) })).toMatchObject({
      kind: 'idle',
      counts: { limbo: 2, unowned: 2 },
    });
    const granted = { ...revoked, registry: aRegistry([anEntry('a#0', acked(8)), anEntry('b#0')]) };
    expect(mapOf(after(granted, planned(granted)))).toBe(`a#0:ab@50 b#0:cd@${TOKEN}`);
  });

  it('does not count an acknowledgement of another lineage', () => {
    const entries = [anEntry('a#0', acked(9, 'b0')), anEntry('b#0')];
    const input = { ...bJoined(), registry: aRegistry(entries) };
    const [grace] = [planned(input)];
    // A living node that knows another lineage: the store has put back an old root.
    expect(grace).toMatchObject({ kind: 'commit', why: 'restored', root: { grace: true } });
  });

  it('grants what belonged to a node that is over', () => {
    const input = { ...bJoined(), registry: aRegistry([anEntry('b#0')], { ended: new Set(['a#0']) }) };
    expect(mapOf(after(input, planned(input)))).toBe(`b#0:abcd@${TOKEN}`);
  });

  it('leaves a node alone whose entry is missing, until the registry was watched for a lease', () => {
    const watched = (ms: number) => ownedByA({ registry: aRegistry([anEntry('b#0')], { watchedSince: 100_000 - ms }) });
    expect(planned(watched(LEASE + TOLERANCE - 1))).toMatchObject({ kind: 'idle', counts: { owned: 4 } });
    const input = watched(LEASE + TOLERANCE);
    expect(mapOf(after(input, planned(input)))).toBe(`b#0:abcd@${TOKEN}`);
  });

  it('leaves a node alone whose entry vanished a moment ago, however long it watched before', () => {
    const registry = aRegistry([anEntry('b#0')], { vanished: new Set(['a#0']) });
    expect(planned(ownedByA({ registry }))).toMatchObject({ kind: 'idle' });
  });

  it('waits as long as the longest lease that a member has had', () => {
    const registry = aRegistry([anEntry('b#0')], { watchedSince: 100_000 - LEASE - TOLERANCE });
    const found = aRoot({ lease: 2 * LEASE, members: new Map([['a#0', ['p1']]]) });
    expect(planned(ownedByA({ registry, found }))).toMatchObject({ kind: 'idle' });
  });

  it('takes away what left the master set, and what a drained node has', () => {
    const removed = ownedByA({ resources: ['a', 'b'] });
    expect(mapOf(after(removed, planned(removed)))).toBe('a#0:ab@50 limbo:cd(a#0/8)');
    const registry = aRegistry([anEntry('a#0'), anEntry('b#0')]);
    const drained = ownedByA({ registry, orders: { pins: new Map(), drained: new Set(['a']) } });
    expect(mapOf(after(drained, planned(drained)))).toBe('a#0: limbo:abcd(a#0/8)');
  });

  it('follows a pin to a node, to the process that has the resource already', () => {
    const registry = aRegistry([anEntry('b#0'), anEntry('a#0'), anEntry('a#1')]);
    const orders = { pins: new Map(resources.map((id) => [id, 'a'])), drained: new Set<string>() };
    expect(planned(ownedByA({ registry, orders }))).toMatchObject({ kind: 'idle' });
  });

  it('moves nothing for balance before the participants have settled, and no more at once than the limit', () => {
    const registry = aRegistry([anEntry('a#0'), anEntry('b#0')]);
    const options = { lease: LEASE, tolerance: TOLERANCE, isSettled: false };
    expect(planned(ownedByA({ registry, options }))).toMatchObject({ kind: 'idle', counts: { deferred: 2 } });
    const limited = ownedByA({ registry, options: { ...options, isSettled: true, limit: { count: 1 } } });
    const next = after(limited, planned(limited));
    expect(mapOf(next)).toBe('a#0:abd@50 limbo:c(a#0/8)');
    expect(planned(next)).toMatchObject({ kind: 'idle', counts: { deferred: 1, limbo: 1 } });
  });

  it('keeps large pages without a change, and writes only the others anew', () => {
    const ids = Array.from({ length: 2500 }, (_, index) => `r${String(index).padStart(4, '0')}`);
    const empty = { owned: new Map(), limbo: new Map() };
    const one = { registry: aRegistry([anEntry('a#0')]), resources: ids, pages: empty };
    const all = after(one, planned(one));
    const joined = { ...all, registry: aRegistry([anEntry('a#0', { weight: 9 }), anEntry('b#0')]) };
    const { root, owned } = planned(joined) as Extract<ReturnType<typeof planned>, { kind: 'commit' }>;
    expect(root.members.get('a#0')).toHaveLength(3);
    expect(owned.size).toBe(1);
    expect(root.members.get('a#0')!.slice(0, 2)).toEqual(all.found!.members.get('a#0')!.slice(0, 2));
  });
});

describe('a trap that the simulated protocol fell into', () => {
  it('the registry read before the map: a newer owner would look dead', () => {
    const registry = aRegistry([anEntry('b#0')], { readFrom: 99_999 });
    expect(planned(ownedByA({ registry }))).toEqual({ kind: 'idle', why: 'registry-too-old' });
  });

  it('pages written and the root not: the next round does not know them', () => {
    const input = ownedByA({ registry: aRegistry([anEntry('a#0'), anEntry('b#0')]) });
    const failed = planned(input);
    const again = planned({ ...input, nonce: 'n2' });
    const keysOf = (round: typeof failed) =>
      round.kind === 'commit' ? [...round.owned.keys(), ...round.limbo.keys()] : [];
    expect(keysOf(again).some((key) => keysOf(failed).includes(key))).toBe(false);
    expect(after(input, again).found!.members.get('a#0')).not.toEqual(keysOf(failed));
  });

  it('old tokens after a restored root: everything gets new ones when the grace ends', () => {
    const found = aRoot({ grace: true, members: new Map([['a#0', ['p1']]]) });
    const input = ownedByA({ found });
    const round = planned(input);
    expect(round).toMatchObject({ kind: 'commit', why: 'grace-over', root: { grace: false } });
    expect(mapOf(after(input, round))).toBe(`a#0:abcd@${TOKEN}`);
  });

  it('a token below that of a living node: the highest that any node has seen counts', () => {
    const registry = aRegistry([anEntry('a#0', { top: TOKEN + 5 })]);
    expect(planned({ registry, resources })).toMatchObject({ root: { lastToken: TOKEN + 6 } });
    const found = aRoot({ lastToken: TOKEN + 9 });
    expect(planned({ registry, resources, found })).toMatchObject({ root: { lastToken: TOKEN + 10 } });
  });

  it('a lost page: its member drops it, and nothing is granted until it has', () => {
    const lost = ownedByA({
      pages: { owned: new Map(), limbo: new Map() },
      registry: aRegistry([anEntry('a#0'), anEntry('b#0')]),
    });
    const round = planned(lost);
    expect(round).toMatchObject({ root: { lost: [{ from: 'a#0', seq: 8 }] }, counts: { owned: 0 } });
    const next = after(lost, round);
    expect(mapOf(next)).toBe('a#0:');
    expect(planned(next)).toMatchObject({ kind: 'idle', counts: { lost: 1 } });
    const free = { ...next, registry: aRegistry([anEntry('a#0', acked(8)), anEntry('b#0')]) };
    expect(mapOf(after(free, planned(free)))).toBe(`a#0:ab@${TOKEN} b#0:cd@${TOKEN}`);
  });

  it('a lost page of the limbo: every member may have had its resources', () => {
    const joined = bJoined();
    const round = planned({ ...joined, pages: { ...joined.pages!, limbo: new Map() } });
    expect(round).toMatchObject({ root: { limbo: [], lost: [{ from: 'a#0', seq: 9 }] } });
  });

  it('a missing page in grace that blocks for ever: it counts as lost when the grace ends', () => {
    const found = aRoot({ grace: true, members: new Map([['a#0', ['p1']]]) });
    const round = planned(ownedByA({ found, pages: { owned: new Map(), limbo: new Map() } }));
    expect(round).toMatchObject({ why: 'grace-over', root: { lost: [{ from: 'a#0', seq: 8 }], grace: false } });
  });

  it('a term from a clock that was ahead: a confirmed leader raises its term above it', () => {
    const found = aRoot({ term: TOKEN + 100_000 * 1024 });
    expect(termOf(found, { term: 1, isConfirmed: false })).toBeUndefined();
    expect(termOf(found, { term: 1, isConfirmed: true })).toBe(found.term + 1);
    expect(planned(ownedByA({ found: aRoot({ term: 9, members: found.members }) }))).toEqual({
      kind: 'idle',
      why: 'not-leader',
    });
  });
});

describe('a root that was lost', () => {
  const copy = aRoot({ seq: 12, members: new Map([['a#0', ['p1']]]), lastToken: 300 });

  it.each([
    { when: 'is missing', found: undefined, seq: 13 },
    { when: 'is older than the copy', found: aRoot({ seq: 9 }), seq: 13 },
    { when: 'is of another lineage and older', found: aRoot({ seq: 9, born: 'b0' }), seq: 13 },
    {
      when: 'was written by two leaders that did not know each other',
      found: aRoot({ seq: 12, nonce: 'other' }),
      seq: 13,
    },
  ])('comes back from the copy with a grace, when it $when', ({ found, seq }) => {
    const round = planned(ownedByA({ found, copy }));
    const expected = { born: 'n1', seq, grace: true, lastToken: 300, members: copy.members };
    expect(round).toMatchObject({ kind: 'commit', why: 'restored', root: expected });
  });

  it('is replaced when a living node has acknowledged a later one', () => {
    const registry = aRegistry([anEntry('a#0', acked(8))]);
    expect(planned(ownedByA({ registry }))).toMatchObject({ why: 'restored', root: { seq: 8, grace: true } });
  });

  const grace = (registry: RoundInput['registry'], bornSeenAt = 0) =>
    planned(ownedByA({ found: aRoot({ grace: true, members: new Map([['a#0', ['p1']]]) }), registry, bornSeenAt }));

  const inGrace = {
    kind: 'idle',
    why: 'grace',
    counts: { owned: 4, limbo: 0, unowned: 0, deferred: 0, lost: 0 },
  };

  it('stays in grace until the registry was watched for a lease, and the root known for as long', () => {
    const watchedSince = 100_000 - LEASE - TOLERANCE + 1;
    expect(grace(aRegistry([anEntry('a#0')], { watchedSince }))).toEqual(inGrace);
    expect(grace(aRegistry([anEntry('a#0')]), watchedSince)).toEqual(inGrace);
  });

  it('stays in grace until every living node has acknowledged it', () => {
    expect(grace(aRegistry([anEntry('a#0'), anEntry('b#0', acked(9, 'b0'))]))).toEqual(inGrace);
    expect(grace(aRegistry([anEntry('a#0'), anEntry('b#0')]))).toMatchObject({ why: 'grace-over' });
  });

  it('counts resources without an owner while it is in grace', () => {
    const found = aRoot({ grace: true });
    const registry = aRegistry([anEntry('a#0'), anEntry('b#0', acked(9, 'b0'))]);
    expect(planned(ownedByA({ found, registry }))).toMatchObject({ why: 'grace', counts: { owned: 0, unowned: 4 } });
  });

  it('is the first of a new group, too', () => {
    const round = planned({ found: undefined, resources, registry: aRegistry([anEntry('a#0')]) });
    expect(round).toMatchObject({ why: 'restored', root: { seq: 1, grace: true, members: new Map() } });
  });
});
