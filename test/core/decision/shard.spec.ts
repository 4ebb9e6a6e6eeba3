import fc from 'fast-check';
import {
  EMPTY_SHARD,
  LONGEST_ON_DEMAND,
  SHARDS,
  ShardNames,
  type Expiring,
  type NameEntry,
  type SemaphoreRecord,
  type ShardRecord,
  type View,
  claimNames,
  decide,
  decodeShard,
  edit,
  encodeShard,
  expectShort,
  isShardBehind,
  leaseChanges,
  leasesIn,
  nameIn,
  release,
  restoreShard,
  rewrite,
  rewriteShard,
  shardOf,
  withName,
} from '../../../lib/core/decision/index.js';
import { refused } from '../../support/refused.js';
import { DURATION, START, aChange, aDefinition, aPermit, aRequest } from './worlds.js';

const NAMES = ['order-1', 'order-2', '__proto__', 'ü"\\'];
const LATER = START + LONGEST_ON_DEMAND;

/** Cluster time alone ends leases here. */
const at = (now: number): View => ({ now, isExpired: ({ expiresAt }) => expiresAt <= now });

function aShard(changes: Partial<ShardRecord> = {}): ShardRecord {
  return { ...EMPTY_SHARD, nonce: 'before', seq: 7, at: START, birth: 'b1', revision: 1, ...changes };
}

const inUse = (node: string): NameEntry => ({ revision: 1, permits: [aPermit(node)] });
const operated = (name: string, changes: Partial<NameEntry> = {}): NameEntry => ({
  revision: 2,
  permits: [],
  definition: aDefinition({ name }),
  change: aChange('define'),
  ...changes,
});

const anyEntry: fc.Arbitrary<NameEntry> = fc.oneof(
  fc.record({ node: fc.constantFrom('n1', 'n2'), end: fc.integer({ min: 1, max: 30_000 }) }).map(({ node, end }) => ({
    revision: 1,
    permits: [aPermit(node, { id: `${node}-${end}`, expiresAt: START + end, duration: end })],
  })),
  fc.constantFrom(...NAMES).map((name) => operated(name)),
);

const anyShard: fc.Arbitrary<ShardRecord> = fc
  .record({
    entries: fc.uniqueArray(fc.tuple(fc.constantFrom(...NAMES), anyEntry), { selector: ([name]) => name }),
    seq: fc.integer({ min: 1, max: 50 }),
    revision: fc.integer({ min: 2, max: 9 }),
    lastToken: fc.integer({ min: 0, max: START * 1024 }),
  })
  .map(({ entries, ...rest }) => aShard({ ...rest, names: ShardNames.of(entries) }));

const anyName = fc.constantFrom(...NAMES);
const put = (shard: ShardRecord, name: string, change: (record: SemaphoreRecord) => SemaphoreRecord, now = START) => {
  const before = nameIn(shard, name);
  return withName(shard, name, before, change(before), at(now));
};
const take = (shard: ShardRecord, name: string, node: string, now: number, asked = DURATION) => {
  const before = nameIn(shard, name, asked);
  const decision = decide(before, aRequest(node, { duration: asked }), at(now));
  if (decision.outcome === 'denied') return { reason: decision.reason, shard };
  return { permit: decision.permit, shard: withName(shard, name, before, decision.record, at(now)) };
};

describe('a name in its shard', () => {
  it('put back as it was read, changes nothing but the counters of the write', () => {
    fc.assert(
      fc.property(anyShard, anyName, (shard, name) => {
        const next = put(shard, name, (record) => rewrite(record, {}, at(START), 'next'));
        expect(Object.fromEntries(next.names)).toEqual(Object.fromEntries(shard.names));
        expect(next).toMatchObject({ seq: shard.seq + 1, revision: shard.revision, lastToken: shard.lastToken });
      }),
    );
  });

  it('is read as it was put', () => {
    fc.assert(
      fc.property(anyShard, anyName, fc.integer({ min: 1, max: 5 }), (shard, name, permits) => {
        const definition = aDefinition({ name, permits });
        const change = aChange('edit');
        const next = put(shard, name, (record) => edit(record, definition, change, at(START), 'next'));
        const before = nameIn(shard, name);
        expect(nameIn(next, name)).toMatchObject({ definition, change, revision: before.revision + 1 });
        expect(nameIn(next, name).permits).toEqual(before.permits);
      }),
    );
  });

  it('leaves all others as they are, but for permits that expired', () => {
    fc.assert(
      fc.property(anyShard, anyName, fc.integer({ min: 0, max: 30_000 }), (shard, name, passed) => {
        const next = put(shard, name, (record) => rewrite(record, {}, at(START + passed), 'next'), START + passed);
        const expected = [...shard.names].flatMap(([other, entry]) => {
          const living = entry.permits.filter(({ expiresAt }) => expiresAt > START + passed);
          return living.length > 0 || entry.definition ? [[other, living] as const] : [];
        });
        const found = [...next.names].map(([other, { permits }]) => [other, permits] as const);
        expect(new Map(found)).toEqual(new Map(expected));
      }),
    );
  });

  it('leaves a permit that is over before its stamped end to the sweep', () => {
    const shard = aShard({
      names: ShardNames.of([
        ['order-1', inUse('n1')],
        ['order-2', inUse('n2')],
      ]),
    });
    const allOver: View = { now: START + DURATION - 1, isExpired: () => true };
    const before = nameIn(shard, 'order-1');
    const next = withName(shard, 'order-1', before, rewrite(before, {}, allOver, 'next'), allOver);
    expect([...next.names.keys()]).toEqual(['order-2']);
    expect(rewriteShard(next, {}, allOver, 'swept').names.size).toBe(0);
  });

  it('vanishes with its last permit, and an operator’s definition keeps it', () => {
    const shard = aShard({
      names: ShardNames.of([
        ['order-1', inUse('n1')],
        ['order-2', operated('order-2', { permits: [aPermit('n2')] })],
      ]),
    });
    const freed = (from: ShardRecord, name: string, id: string) =>
      put(from, name, (record) => release(record, id, at(START), 'next')!);
    expect(freed(shard, 'order-1', 'permit-of-n1').names.has('order-1')).toBe(false);
    expect(freed(shard, 'order-2', 'permit-of-n2').names.get('order-2')).toMatchObject({ permits: [], revision: 2 });
  });

  it('that comes back gets a higher token than it had, and no lower revision', () => {
    const edited = put(aShard(), 'order-1', (record) =>
      edit(record, aDefinition({ name: 'order-1' }), aChange(), at(START), 'a'),
    );
    const had = nameIn(edited, 'order-1').revision;
    const gone = put(edited, 'order-1', (record) => rewrite(record, { definition: undefined }, at(START), 'b'));
    expect(gone.names.size).toBe(0);
    // The members' clocks went back meanwhile.
    const first = take(gone, 'order-1', 'n1', START);
    const freed = put(first.shard, 'order-1', (record) => release(record, first.permit!.id, at(START), 'c')!);
    const second = take(freed, 'order-1', 'n2', START - 60_000);
    expect(second.permit!.token).toBeGreaterThan(first.permit!.token);
    expect(nameIn(second.shard, 'order-1').revision).toBeGreaterThanOrEqual(had);
  });

  it('has one permit, and lasts as long as the longest of its uses asked for', () => {
    const { shard, permit } = take(aShard(), 'order-1', 'n1', START, 60_000);
    expect(permit).toMatchObject({ slot: 0, duration: 60_000, expiresAt: START + 60_000 });
    expect(take(shard, 'order-1', 'n2', START + 1).reason).toBe('no-permit');
    const request = aRequest('n1', { held: permit!, duration: 5_000 });
    const shorter = decide(nameIn(shard, 'order-1', 5_000), request, at(START + 1));
    expect(shorter).toMatchObject({ outcome: 'refreshed', permit: { asked: { duration: 60_000 } } });
  });

  it('is unknown without a duration while it is not in use', () => {
    expect(nameIn(aShard(), 'order-1').definition).toBeUndefined();
    expect(decide(nameIn(aShard(), 'order-1'), aRequest('n1'), at(START))).toMatchObject({ reason: 'no-definition' });
  });
});

describe('the shard of a name', () => {
  it('is the same on all nodes and versions', () => {
    expect(['', 'a', 'foobar', 'order-123', 'größe'].map((name) => shardOf(name))).toEqual(
      [0x811c9dc5, 0xe40c292c, 0xbf9cf968]
        .map((hash) => String(hash % SHARDS))
        .concat([shardOf('order-123'), shardOf('größe')]),
    );
  });
});

describe('the leases of two versions of a shard', () => {
  it('differ in no others than those that are told', () => {
    fc.assert(
      fc.property(anyShard, anyShard, fc.boolean(), (former, next, isInGrace) => {
        const grace = { id: 'g', expiresAt: START, duration: 1 };
        const [one, other] = [isInGrace ? { ...former, grace } : former, isInGrace ? next : { ...next, grace }];
        const { gone, begun } = leaseChanges(one, other);
        const kept = leasesIn(one).filter((lease) => !gone.includes(lease));
        const idsOf = (leases: readonly Expiring[]) => leases.map(({ id }) => id).toSorted();
        expect(idsOf([...kept, ...begun])).toEqual(idsOf(leasesIn(other)));
      }),
    );
  });
});

describe('the text of a shard', () => {
  it('is read as it was written, whatever its names are', () => {
    fc.assert(fc.property(anyShard, (shard) => expect(decodeShard('7', encodeShard(shard))).toEqual(shard)));
    const claimed = aShard({
      claims: new Map([['__proto__', 'o1']]),
      grace: { id: 'g', expiresAt: START, duration: 1 },
    });
    expect(decodeShard('7', encodeShard(claimed))).toEqual(claimed);
  });

  it.each([
    [
      'it names a name twice',
      {
        names: [
          { name: 'a', revision: 1, permits: [] },
          { name: 'a', revision: 1, permits: [] },
        ],
      },
    ],
    ['it has a permit without an end', { names: [{ name: 'a', revision: 1, permits: [{ id: 'p' }] }] }],
    ['it has a field that this version does not know', { more: 1 }],
    ['a name is empty', { names: [{ name: '', revision: 1, permits: [] }] }],
  ])('can’t be read when %s', (_fault, changes) => {
    const text = JSON.stringify({ ...JSON.parse(encodeShard(aShard())), ...changes });
    expect(() => decodeShard('7', text)).toThrow(/shard 7 of the names on demand can't be read/);
  });
});

describe('durations of names on demand', () => {
  it('are capped at what the grace of a lost shard outlasts', () => {
    expect(() => expectShort(aShard(), 'order-1', LONGEST_ON_DEMAND)).not.toThrow();
    expect(() => expectShort(aShard(), 'order-1', LONGEST_ON_DEMAND + 1)).toThrow(
      /duration: 900001 ms is longer than the 900000 ms .* define the semaphore/,
    );
  });

  it('may be as long as an operator’s definition', () => {
    const long = operated('order-1', { definition: aDefinition({ name: 'order-1', duration: 3_600_000 }) });
    const shard = aShard({ names: ShardNames.of([['order-1', long]]) });
    expect(() => expectShort(shard, 'order-1', 3_600_000)).not.toThrow();
    expect(() => expectShort(shard, 'order-1', 3_600_001)).toThrow(refused('duration'));
  });
});

describe('a shard that the store lost', () => {
  it('comes back with a grace that no permit on demand outlasts, also through a node that saw none', () => {
    const restored = restoreShard(EMPTY_SHARD, undefined, at(START), 'next');
    expect(restored.grace).toMatchObject({ expiresAt: LATER, duration: LONGEST_ON_DEMAND });
    expect(take(restored, 'order-1', 'n1', LATER - 1).reason).toBe('recovering');
    expect(take(restored, 'order-1', 'n1', LATER).permit).toBeDefined();
  });

  it('lets a holder put its permit back although no text has it any more', () => {
    const { permit } = take(aShard(), 'order-1', 'n1', START);
    const restored = restoreShard(EMPTY_SHARD, undefined, at(START + 1), 'next');
    const before = nameIn(restored, 'order-1', DURATION);
    const again = decide(before, aRequest('n1', { held: permit!, onlyRefresh: true }), at(START + 2));
    expect(again).toMatchObject({ outcome: 'refreshed', permit: { id: permit!.id, token: permit!.token } });
  });

  it('keeps what either text has, and is behind neither', () => {
    fc.assert(
      fc.property(anyShard, anyShard, (known, found) => {
        const restored = restoreShard(known, found, at(START), 'next');
        expect([isShardBehind(restored, known), isShardBehind(restored, found)]).toEqual([false, false]);
        const both = [...known.names, ...found.names];
        const defined = (entries: typeof both) =>
          new Set(entries.filter(([, each]) => each.definition).map(([name]) => name));
        const held = (entries: typeof both) =>
          new Set(entries.filter(([, each]) => each.permits.length).map(([name]) => name));
        expect(defined([...restored.names])).toEqual(defined(both));
        expect(held([...restored.names])).toEqual(held(both));
      }),
    );
  });

  it('is behind also when it was made anew at another birth', () => {
    expect(isShardBehind(aShard({ seq: 9, birth: 'b2' }), aShard())).toBe(true);
    expect(isShardBehind(aShard({ seq: 9 }), aShard())).toBe(false);
  });

  it('is not taken for lost when only a name was removed', () => {
    const shard = aShard({ names: ShardNames.of([['order-1', inUse('n1')]]) });
    const gone = put(shard, 'order-1', (record) => release(record, 'permit-of-n1', at(START), 'next')!);
    expect(isShardBehind(gone, shard)).toBe(false);
  });
});

describe('a claim of a name that code defines', () => {
  const asked = { name: 'order-1', origin: 'o1', isActive: false };

  it.each([
    ['a permit lives', aShard({ names: ShardNames.of([['order-1', inUse('n1')]]) })],
    ['a grace stands for unknown holders', aShard({ grace: { id: 'g', expiresAt: START + 1, duration: 1 } })],
    ['an operator defined it', aShard({ names: ShardNames.of([['order-1', operated('order-1')]]) })],
    ['it is claimed', aShard({ claims: new Map([['order-1', 'o0']]) })],
  ])('is refused while %s', (_case, shard) => {
    expect(claimNames(shard, [asked], at(START), 'next')).toBeUndefined();
  });

  it('is noted otherwise, and keeps other names out of nothing', () => {
    const shard = aShard({ names: ShardNames.of([['order-2', inUse('n2')]]) });
    const claimed = claimNames(shard, [asked, { ...asked, name: 'order-2' }], at(START), 'next')!;
    expect([...claimed.claims]).toEqual([['order-1', 'o1']]);
    expect(claimed.names).toEqual(shard.names);
  });

  it('of a record in force comes back in a grace, in which nothing is granted', () => {
    const shard = aShard({ grace: { id: 'g', expiresAt: START + 1, duration: 1 } });
    const claimed = claimNames(shard, [{ ...asked, isActive: true }], at(START), 'next');
    expect(claimed?.claims.get('order-1')).toBe('o1');
  });

  it('survives a restoration', () => {
    const known = aShard({ seq: 9, claims: new Map([['order-1', 'o1']]) });
    expect(restoreShard(known, rewriteShard(EMPTY_SHARD, {}, at(START), 'x'), at(START), 'next').claims).toEqual(
      known.claims,
    );
  });
});
