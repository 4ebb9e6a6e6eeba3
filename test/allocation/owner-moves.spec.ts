import { movesOf } from '../../lib/allocation/moves/owner-moves.js';
import { type OwnerStep, stepsOf } from '../../lib/allocation/moves/owner-steps.js';
import { reasonOf } from '../../lib/allocation/moves/past-moves.js';
import type { RoundInput } from '../../lib/allocation/round/round.js';
import { finish } from './divisions.js';
import { aPage, aRegistry, aRoot, anEntry, anInput, after, planned } from './maps.js';

const step = (resource: string, from = 'a', to = 'b'): OwnerStep => ({
  step: 'given',
  resource,
  from,
  to,
  why: 'balance',
});

describe('the moves of one change', () => {
  it('are one line per nodes and reason, the largest first', () => {
    const moves = finish(movesOf([step('r1'), step('r2', 'a', 'c'), step('r3')]));
    expect(moves).toEqual([
      { step: 'given', from: 'a', to: 'b', why: 'balance', count: 2, resources: ['r1', 'r3'] },
      { step: 'given', from: 'a', to: 'c', why: 'balance', count: 1, resources: ['r2'] },
    ]);
  });

  it('tell the processes apart where both owners have one name, and only there', () => {
    const of = (to: string, toInstance: string): OwnerStep => ({
      ...step('r', 'a', to),
      fromInstance: 'i1',
      toInstance,
    });
    const moves = finish(movesOf([of('a', 'i2'), of('a', 'i3'), of('b', 'i4'), of('b', 'i5')]));
    const told = moves.map(({ to, fromInstance, toInstance, count }) => [to, fromInstance, toInstance, count]);
    expect(told).toEqual([
      ['b', undefined, undefined, 2],
      ['a', 'i1', 'i2', 1],
      ['a', 'i1', 'i3', 1],
    ]);
  });

  it.each([
    [{ from: 'a', to: 'b', why: 'owner-gone' }, 'the owner is gone'],
    [{ to: 'a', why: 'no-owner' }, 'had no owner'],
    [{ from: 'a', why: 'drained' }, 'the node is drained'],
    [
      { from: 'a', to: 'a', fromInstance: 'i1', toInstance: 'i2', why: 'owner-gone' },
      'stays with a, in another process: the former one is gone',
    ],
    [{ from: 'a', to: 'a', why: 'owner-gone' }, 'stays with a, in another process: the former one is gone'],
    [{ from: 'a', to: 'a', why: 'leaving' }, 'stays with a, in another process: the former one shut down'],
    [{ from: 'a', to: 'a', why: 'balance' }, 'stays with a, in another process: for balance'],
    [
      { from: 'a', to: 'a', fromInstance: 'i1', toInstance: 'i1', why: 'owner-gone' },
      'stays with a: its lease had lapsed, and it has a new one',
    ],
  ] as const)('have their reason in words: %j', (move, reason) => {
    expect(reasonOf({ step: 'given', count: 1, resources: ['r'], ...move })).toBe(reason);
  });

  it('name 50 resources, some of each line', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => step(`r${index}`));
    const moves = finish(movesOf([...many, step('other', 'a', 'c')]));
    expect(moves.map(({ count, resources }) => [count, resources.length])).toEqual([
      [10_000, 49],
      [1, 1],
    ]);
  });

  it('are never longer than an entry may be', () => {
    const name = (end: number) => '"'.repeat(196) + String(end).padStart(4, '0');
    const hostile = Array.from({ length: 1000 }, (_, index) =>
      step('\u0001'.repeat(499) + index, name(index), name(index + 1)),
    );
    const moves = finish(movesOf(hostile));
    expect(moves).toHaveLength(50);
    expect(JSON.stringify(moves).length).toBeLessThan(60_000);
  });
});

describe('why a resource got its next owner, if another leader took it from the former one', () => {
  const left = new Set<string>();
  const nodeOf = (inc: string) => ({ node: inc.split('#')[0]!, hasLeft: left.has(inc) });
  const b = anEntry('b#0');

  /** The input and the round in which b gets c and d, which a had to give back. */
  function handover(changes: Partial<RoundInput>) {
    const first: Partial<RoundInput> = {
      found: aRoot({ members: new Map([['a#0', ['p1']]]) }),
      pages: { owned: new Map([['p1', aPage('abcd')]]), limbo: new Map() },
      resources: [...'abcd'],
      registry: aRegistry([anEntry('a#0'), b]),
    };
    const input = { ...after(first, planned(first)), ...changes };
    const round = planned(input);
    if (round.kind === 'idle') throw new Error('nothing is granted');
    const steps = finish(stepsOf({ input: anInput(input), round, taken: new Map(), nodeOf }));
    return steps.filter(({ resource, step: kind }) => kind === 'given' && 'cd'.includes(resource));
  }

  const acked = { acked: { born: 'b1', seq: 8 } };
  const given = (why: string) => [...'cd'].map((resource) => ({ step: 'given', resource, from: 'a', to: 'b', why }));

  it.each([
    ['balance', { registry: aRegistry([anEntry('a#0', acked), b]) }],
    ['leaving', { registry: aRegistry([anEntry('a#0', { ...acked, weight: 0 }), b]) }],
    [
      'drained',
      { registry: aRegistry([anEntry('a#0', acked), b]), orders: { pins: new Map(), drained: new Set(['a']) } },
    ],
    ['owner-gone', { registry: aRegistry([b], { ended: new Set(['a#0']) }) }],
  ])('%s', (why, changes) => {
    expect(handover(changes)).toEqual(given(why));
  });

  it('pinned', () => {
    const pins = new Map([...'cd'].map((id) => [id, 'b']));
    const orders = { pins, drained: new Set<string>() };
    expect(handover({ registry: aRegistry([anEntry('a#0', acked), b]), orders })).toEqual(given('pinned'));
  });

  it('leaving, if the node ended its lease', () => {
    left.add('a#0');
    expect(handover({ registry: aRegistry([b], { ended: new Set(['a#0']) }) })).toEqual(given('leaving'));
  });
});
