import { type PlanInput, type PlanRequest, planMoves } from '../../lib/allocation/plan.js';
import { finish } from './divisions.js';

/** The ids of the incarnations are not in the order of the nodes' names. */
const LIVING = [
  { inc: '8', node: 'a', weight: 1 },
  { inc: '4', node: 'b', weight: 1 },
];

const ownersOf = (resources: string, incs: string) =>
  new Map([...resources].map((resource, at) => [resource, { inc: incs[at]! }] as const));
const ordersOf = (pins: readonly (readonly [string, string])[] = [], drained: readonly string[] = []) => ({
  pins: new Map(pins),
  drained: new Set(drained),
});

const input: PlanInput = {
  resources: ['1', '2', '3', '4'],
  living: LIVING,
  owners: ownersOf('1234', '8844'),
  orders: ordersOf(),
};

const plan = (change?: PlanRequest, changes: Partial<PlanInput> = {}) =>
  finish(planMoves({ ...input, ...changes }, change));

describe('a plan of moves', () => {
  it('is empty when all is as it should be', () => {
    expect(plan()).toEqual({
      moves: [],
      homeless: 0,
      shares: [
        { id: 'a', before: 2, after: 2 },
        { id: 'b', before: 2, after: 2 },
      ],
      sentences: [],
    });
  });

  it.each<{ when: string; change: PlanRequest; changes?: Partial<PlanInput>; sentences: string[] }>([
    {
      when: 'a node is drained',
      change: { drain: ['a'] },
      sentences: ['2 resources from a to b: the node is drained'],
    },
    { when: 'a node is lost', change: { lose: ['b'] }, sentences: ['2 resources from b to a: the owner is gone'] },
    {
      when: 'a node joins',
      change: { join: [{ node: 'c', weight: 2 }] },
      sentences: ['1 resource from a to c: for balance', '1 resource from b to c: for balance'],
    },
    {
      when: 'a resource is pinned',
      change: { pin: [['1', 'b']] },
      sentences: ['1 resource from a to b: pinned', '1 resource from b to a: for balance'],
    },
    {
      when: 'all nodes are drained',
      change: { drain: ['a', 'b'] },
      sentences: [
        '2 resources from a to no node: the node is drained',
        '2 resources from b to no node: the node is drained',
      ],
    },
    {
      when: 'resources have no owner or left the set',
      change: {},
      changes: { resources: ['1', '2', '3', '5'] },
      sentences: ['1 resource from b to no node: no longer in the master set', '1 resource to b: without an owner now'],
    },
    {
      when: 'a pin ends',
      change: { unpin: ['3'] },
      changes: { orders: ordersOf([['3', 'b']]) },
      sentences: [],
    },
  ])('says what moves and why, when $when', ({ change, changes, sentences }) => {
    expect(plan(change, changes).sentences).toEqual(sentences);
  });

  it('counts resources that no node may own, without those that left the set', () => {
    expect(plan({ drain: ['a', 'b'] }).homeless).toBe(4);
    expect(plan({}, { resources: ['1', '2', '3'] })).toMatchObject({ homeless: 0, moves: [{ resource: '4' }] });
    expect(plan({ lose: ['a', 'b'] }, { resources: ['1', '2', '3', '5'] })).toMatchObject({ homeless: 4 });
  });

  it('gives each move and the shares before and after', () => {
    expect(plan({ drain: ['a'] })).toMatchObject({
      moves: [
        { resource: '1', from: 'a', to: 'b', why: 'drained' },
        { resource: '2', from: 'a', to: 'b', why: 'drained' },
      ],
      shares: [
        { id: 'a', before: 2, after: 0 },
        { id: 'b', before: 2, after: 4 },
      ],
    });
  });

  it.each([
    {
      when: 'the strategy is "even"',
      change: {},
      changes: { strategy: 'even' as const, owners: ownersOf('1234', '4488') },
    },
    {
      when: 'a resource is pinned to the node that has it',
      change: { pin: [['1', 'a']] as const },
      changes: {},
    },
    { when: 'a drained node joins', change: { join: [{ node: 'c' }] }, changes: { orders: ordersOf([], ['c']) } },
  ])('is empty when $when and all is as the leader divides it', ({ change, changes }) => {
    expect(plan(change, changes).moves).toEqual([]);
  });

  it('gives one resource more to the node that the leader would choose, by the ids of incarnations', () => {
    const living = [...LIVING, { inc: '6', node: 'c', weight: 1 }];
    const { moves } = plan({}, { resources: ['1', '2', '3', '4', '5'], living, owners: ownersOf('12', '84') });
    expect(moves.map(({ resource, to }) => [resource, to])).toEqual([
      ['3', 'b'],
      ['4', 'c'],
      ['5', 'c'],
    ]);
  });

  it('leaves out moves from one process of a node to another, and counts their resources together', () => {
    const living = [...LIVING, { inc: '6', node: 'a', weight: 1 }];
    expect(plan({}, { living })).toEqual(plan());
  });

  it('gives the strategy of the application the ids of incarnations', () => {
    const seen: unknown[] = [];
    plan(
      { lose: ['a'] },
      {
        strategy: ({ resources, participants, current }) => {
          seen.push(participants, current.get('1'));
          return resources.map((resource) => [resource, participants[0]!.id] as const);
        },
      },
    );
    expect(seen).toEqual([[{ id: '4', weight: 1 }], '8']);
  });
});
