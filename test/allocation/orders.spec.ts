import { type Strategy, type StrategyFunction, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { useCluster } from '../support/nodes.js';
import { BEGIN, LEASE, type Owner, pass, sharesOf, sizesOf, startOwner, startOwners } from './groups.js';

const ORDERS = 'allocation:orders:queues';

describe('orders of operators', () => {
  const cluster = useCluster();

  it('pin a resource to a node, from any node, and let it go again', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    const { id } = owners[0]!.group.owned()[0]!;
    await owners[0]!.group.pin(id, 'app2');
    await pass(nodes, owners, 2000, () => owners[1]!.group.owns(id));
    expect(sizesOf(owners)).toEqual([3, 3]);
    await owners[1]!.group.unpin(id);
    await pass(nodes, owners, 5000);
    expect(owners[1]!.group.owns(id)).toBe(true);
  });

  it('drain a node, which gets its share back when the drain ends', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    await owners[1]!.group.drain('app1');
    await pass(nodes, owners, 2000, () => owners[0]!.group.owned().length === 0);
    await pass(nodes, owners, 2000, () => sizesOf(owners).join() === '3,3,0');
    await owners[2]!.group.undrain('app1');
    await pass(nodes, owners, 5000, () => sizesOf(owners).join() === '2,2,2');
  });

  it('outlast a loss of all data', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    await owners[0]!.group.drain('app2');
    await pass(nodes, owners, 2000, () => sharesOf(owners) === 'abcdef|');
    nodes.loseAll();
    await nodes.bear();
    await pass(nodes, owners, 3 * LEASE);
    expect(sharesOf(owners)).toBe('abcdef|');
    expect((await owners[1]!.group.overview()).drained).toEqual(['app2']);
  });

  it('that can not be read stay in force on nodes that know them, and a new node says that it knows none', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    await owners[0]!.group.drain('app2');
    await pass(nodes, owners, 2000, () => sharesOf(owners) === 'abcdef|');
    nodes.lose(ORDERS);
    await nodes.raw.records.compareAndSet(ORDERS, undefined, '{"v":1,"oops":');
    await pass(nodes, owners, 2 * LEASE);
    expect(sharesOf(owners)).toBe('abcdef|');
    const faultsOf = async ({ group }: Owner) => (await group.overview()).faults.join();
    expect(await faultsOf(owners[0]!)).toContain('the last orders that were read stay in force: ');
    const joined = await startOwner(nodes);
    await nodes.time.advance(LEASE);
    expect(await faultsOf(joined)).toContain('this node knows no pins and no drains: ');
  });

  it('of a drain of all nodes leave the resources without an owner, and that is an alarm', async () => {
    const nodes = cluster();
    const one = await startOwner(nodes);
    await pass(nodes, [one], BEGIN, () => sharesOf([one]) === 'abcdef');
    await one.group.drain('app1');
    await pass(nodes, [one], LEASE + 500 + 5000 + 3000);
    expect(one.of('resources-unowned')).toMatchObject([{ group: 'queues', count: 6 }]);
    expect(one.gatekeeper.health()).toMatchObject({ status: 'degraded', faults: [{ code: 'resources-unowned' }] });
    expect(one.group.unowned!.sentence).toContain('no living node may own them: end a drain, or start a node');
    await one.group.undrain('app1');
    await pass(nodes, [one], 3000, () => sharesOf([one]) === 'abcdef');
    await nodes.time.advance(2000);
    expect(one.group.unowned).toBeUndefined();
  });

  it('resolve to whether they changed something', async () => {
    const nodes = cluster();
    const { group } = await startOwner(nodes);
    expect([await group.undrain('app-1'), await group.unpin('a')]).toEqual([false, false]);
    expect([await group.drain('app9'), await group.drain('app9'), await group.undrain('app9')]).toEqual([
      true,
      false,
      true,
    ]);
    expect([await group.pin('a', 'app1'), await group.pin('a', 'app1')]).toEqual([true, false]);
    expect([await group.pin('a', 'app9'), await group.unpin('a')]).toEqual([true, true]);
  });

  it('whose answer was lost count as a change, also after another one has replaced the write', async () => {
    const nodes = cluster();
    const [one, other] = [await startOwner(nodes), await startOwner(nodes)];
    let isLost = false;
    one.store.script = async (call, go, key) => {
      const answer = await go();
      if (isLost || call !== 'compareAndSet' || !key?.startsWith('allocation:orders:')) return answer;
      isLost = true;
      await other.group.pin('a', 'app2');
      throw new UnknownOutcomeError('no answer');
    };
    expect(await Promise.all([one.group.drain('app9'), nodes.time.advance(2000)])).toEqual([true, undefined]);
    expect(isLost).toBe(true);
  });

  it.each([
    ['an empty id', '', 'app1', /resource: .*empty/],
    ['an id that is too long', 'x'.repeat(501), 'app1', 'resource: "x'],
    ['no name of a node', 'a', '', 'node: '],
  ])('with %s are refused', async (_, id, node, fault) => {
    const nodes = cluster();
    const one = await startOwner(nodes);
    await expect(one.group.pin(id, node)).rejects.toThrow(fault);
  });
});

/** The order of the ids decides, as in the example of the docs. */
const roundRobin: StrategyFunction = ({ resources, participants }) =>
  resources.map((id, at) => [id, participants[at % participants.length]!.id] as const);

const STRATEGIES: readonly { name: string; strategy: Strategy }[] = [
  { name: 'sticky', strategy: 'sticky' },
  { name: 'even', strategy: 'even' },
  { name: 'a function', strategy: roundRobin },
];

/** Resource -> name of its node, by resource. */
const ownersOf = (owners: readonly Owner[]) => {
  const pairs = owners.flatMap(({ gatekeeper, group }) =>
    group.owned().map(({ id }) => [id, gatekeeper.node.acquirer] as const),
  );
  return new Map(pairs.toSorted(([one], [other]) => (one < other ? -1 : 1)));
};

describe('a plan', () => {
  const cluster = useCluster();

  it('says what would move if a node went, and moves nothing', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    const before = sharesOf(owners);
    const { moves, shares, sentences } = await owners[0]!.group.plan({ lose: ['app3'] });
    expect(moves).toHaveLength(2);
    for (const move of moves) expect(move).toMatchObject({ from: 'app3', why: 'owner-gone' });
    expect(shares).toEqual([
      { id: 'app1', before: 2, after: 3 },
      { id: 'app2', before: 2, after: 3 },
      { id: 'app3', before: 2, after: 0 },
    ]);
    expect(sentences.join()).toContain('app3 to app1');
    await pass(nodes, owners, 3000);
    expect(sharesOf(owners)).toBe(before);
  });

  it.each(STRATEGIES)('without a change is empty ($name)', async ({ strategy }) => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 5, { strategy });
    await pass(nodes, owners, 5000);
    expect((await owners[1]!.group.plan()).moves).toEqual([]);
  });

  it.each(STRATEGIES)('of a drain names the moves that the drain makes ($name)', async ({ strategy }) => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 5, { strategy });
    await pass(nodes, owners, 5000);
    const before = ownersOf(owners);
    const { moves } = await owners[0]!.group.plan({ drain: ['app1'] });
    await owners[0]!.group.drain('app1');
    await pass(nodes, owners, 5000, () => owners[0]!.group.owned().length === 0);
    await pass(nodes, owners, 5000);
    const moved = [...ownersOf(owners)].filter(([id, node]) => before.get(id) !== node);
    expect(moves.map(({ resource, to }) => [resource, to])).toEqual(moved);
  });
});

describe('an overview', () => {
  const cluster = useCluster();

  it('lists resources with their owners, and nodes with their shares, on any node', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    for (const { group } of owners) {
      const { resources, nodes: shares, faults } = await group.overview();
      expect(resources.map(({ id }) => id)).toEqual([...'abcdef']);
      for (const { id, node, token } of resources) {
        const owner = owners.find((each) => each.group.owns(id))!;
        expect(node).toBe(owner.gatekeeper.node.acquirer);
        expect(token).toBe(owner.group.owned().find((each) => each.id === id)!.token);
      }
      expect(shares).toMatchObject([
        { node: 'app1', weight: 1, owned: 3, isDrained: false },
        { node: 'app2', weight: 1, owned: 3, isDrained: false },
      ]);
      expect(faults).toEqual([]);
    }
  });
});
