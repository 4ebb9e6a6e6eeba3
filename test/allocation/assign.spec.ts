import { type AssignRequest, type Revocation } from '../../lib/allocation/assign/assign.js';
import { mostMoves, movementLimitSchema } from '../../lib/allocation/assign/movement-limit.js';
import { assigned, ownersAfter, sharesOf } from './divisions.js';

/** "a:12 b:3" are the owners of the resources 1, 2 and 3; "-" has none. */
function owners(text: string): Map<string, string> {
  const nodes = text
    .split(' ')
    .filter(Boolean)
    .map((part) => part.split(':') as [string, string]);
  return new Map(nodes.flatMap(([node, resources]) => [...resources].map((resource) => [resource, node] as const)));
}

/** "a b*2 c*0": nodes with their weights. */
const nodes = (text: string) =>
  text.split(' ').map((part) => ({ id: part.split('*')[0]!, weight: Number(part.split('*')[1] ?? 1) }));

function textOf(map: ReadonlyMap<string, string>): string {
  const ids = [...new Set(map.values())].toSorted();
  return ids
    .map(
      (id) =>
        `${id}:${[...map.keys()]
          .filter((key) => map.get(key) === id)
          .toSorted()
          .join('')}`,
    )
    .join(' ');
}

interface Case {
  readonly when: string;
  readonly nodes: string;
  readonly current: string;
  readonly resources?: string;
  readonly pins?: string;
  readonly mostMoves?: number;
  readonly divided: string;
  readonly revoked?: string;
}

const request = ({ nodes: text, current, resources = '123456', pins = '', mostMoves: most }: Case): AssignRequest => ({
  resources: [...resources],
  participants: nodes(text),
  current: owners(current),
  pins: owners(pins),
  ...(most !== undefined && { mostMoves: most }),
});

const shown = (revoke: readonly Revocation[]) =>
  revoke.map(({ resource, from, why }) => `${resource} from ${from}: ${why}`).join(', ');

const CASES: readonly Case[] = [
  { when: 'none has an owner', nodes: 'a b', current: '', divided: 'a:123 b:456' },
  { when: 'all is even', nodes: 'a b', current: 'a:246 b:135', divided: 'a:246 b:135' },
  {
    when: 'a node joins',
    nodes: 'a b c',
    current: 'a:123 b:456',
    divided: 'a:12 b:45 c:36',
    revoked: '3 from a: balance, 6 from b: balance',
  },
  { when: 'a node is gone', nodes: 'a c', current: 'a:12 b:34 c:56', divided: 'a:123 c:456' },
  { when: 'shares may differ by one', nodes: 'a b', current: 'a:12 b:345', resources: '12345', divided: 'a:12 b:345' },
  { when: 'weights differ', nodes: 'a b*2', current: '', divided: 'a:12 b:3456' },
  {
    when: 'a node is drained',
    nodes: 'a*0 b',
    current: 'a:123 b:456',
    divided: 'b:123456',
    revoked: '1 from a: drained, 2 from a: drained, 3 from a: drained',
  },
  {
    when: 'all nodes are drained',
    nodes: 'a*0',
    current: 'a:123456',
    divided: '',
    revoked: [1, 2, 3, 4, 5, 6].map((id) => `${id} from a: drained`).join(', '),
  },
  {
    when: 'there are more nodes than resources',
    nodes: 'a b c d',
    current: 'c:1',
    resources: '12',
    divided: 'a:2 c:1',
  },
  {
    when: 'resources left the set',
    nodes: 'a b',
    current: 'a:123 b:456',
    resources: '1245',
    divided: 'a:12 b:45',
    revoked: '3 from a: removed, 6 from b: removed',
  },
  { when: 'there are no resources', nodes: 'a', current: '', resources: '', divided: '' },
  {
    when: 'one is pinned to another node',
    nodes: 'a b',
    current: 'a:123 b:456',
    pins: 'b:1',
    divided: 'a:236 b:145',
    revoked: '1 from a: pinned, 6 from b: balance',
  },
  {
    when: 'a node has more pins than its share',
    nodes: 'a b c',
    current: 'a:12 b:34 c:56',
    pins: 'a:1234',
    divided: 'a:1234 b:6 c:5',
    revoked: '3 from b: pinned, 4 from b: pinned, 6 from c: balance',
  },
  { when: 'the pinned node is absent', nodes: 'a b', current: 'a:123 b:456', pins: 'z:1', divided: 'a:123 b:456' },
  { when: 'the pinned node is drained', nodes: 'a b*0', current: 'a:123456', pins: 'b:1', divided: 'a:123456' },
  {
    when: 'one move is allowed',
    nodes: 'a b c',
    current: 'a:123 b:456',
    mostMoves: 1,
    divided: 'a:12 b:456 c:3',
    revoked: '3 from a: balance',
  },
  {
    when: 'no move is allowed and a node is gone',
    nodes: 'a c',
    current: 'a:1234 b:56',
    mostMoves: 0,
    divided: 'a:1234 c:56',
  },
  {
    when: 'no move is allowed and a node is drained',
    nodes: 'a*0 b',
    current: 'a:12',
    resources: '12',
    mostMoves: 0,
    divided: 'b:12',
    revoked: '1 from a: drained, 2 from a: drained',
  },
];

describe('resources are divided', () => {
  it.each(CASES)('when $when', (each) => {
    const result = assigned(request(each));
    expect(textOf(ownersAfter(request(each), result))).toBe(each.divided);
    expect(shown(result.revoke)).toBe(each.revoked ?? '');
  });

  it('and the moves that the limit holds back are counted', () => {
    const { deferred } = assigned(
      request({ when: '', nodes: 'a b c', current: 'a:123 b:456', mostMoves: 1, divided: '' }),
    );
    expect(deferred).toBe(1);
  });
});

describe('the limit of moves', () => {
  it.each([
    { limit: {}, total: 100, moving: 3, most: 97 },
    { limit: { count: 5 }, total: 100, moving: 3, most: 2 },
    { limit: { share: 0.1 }, total: 100, moving: 0, most: 10 },
    { limit: { share: 0.1, count: 4 }, total: 100, moving: 0, most: 4 },
    { limit: { share: 0.01 }, total: 10, moving: 0, most: 1 },
    { limit: { count: 2 }, total: 100, moving: 5, most: 0 },
  ])('of $limit allows $most of $total when $moving are moving', ({ limit, total, moving, most }) => {
    expect(mostMoves(limit, total, moving)).toBe(most);
  });

  it.each([
    { limit: { count: 0 }, fault: '0 is not a whole number of resources, 1 or more' },
    { limit: { count: '5' }, fault: '"5" is not' },
    { limit: { share: 0 }, fault: '0 is not a part of all resources, above 0 and at most 1' },
    { limit: { share: 1.5 }, fault: '1.5 is not' },
    { limit: { part: 1 }, fault: 'count, share' },
  ])('is refused with a sentence: $fault', ({ limit, fault }) => {
    expect(movementLimitSchema.safeParse(limit).error?.issues[0]?.message).toContain(fault);
  });
});

describe('the strategy "even"', () => {
  it('gives blocks of neighbours, whatever the owners were', () => {
    const each = { when: '', nodes: 'b a c*2', current: 'c:1 a:6', resources: '12345678', divided: '' };
    const result = ownersAfter(request(each), assigned({ ...request(each), strategy: 'even' }));
    expect(textOf(result)).toBe('a:12 b:34 c:5678');
    expect(sharesOf(result, nodes('a b c'))).toEqual(
      new Map([
        ['a', 2],
        ['b', 2],
        ['c', 4],
      ]),
    );
  });
});
