import type { StrategyFunction } from 'nestjs-gatekeeper';
import { deciderOf } from '../../lib/allocation/mandate.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import { BEGIN, CRASH, LEASE, type Owner, letters, pass, sizesOf, startOwner, startOwners } from './groups.js';
import { NOW, anEntry } from './maps.js';

const broken = () => {
  throw new Error('wrong password');
};
const isLeader = ({ gatekeeper }: Owner) => gatekeeper.allocation.cluster.scope().isLeader;
const faultsOf = async ({ group }: Owner) => (await group.overview()).faults.join('\n');
const codesOf = ({ gatekeeper }: Owner) => gatekeeper.health().faults.map(({ code }) => code);
const total = (owners: readonly Owner[]) => sizesOf(owners).reduce((sum, size) => sum + size, 0);

describe('a group is decided by', () => {
  const able = (instance: string, changes = {}) => anEntry(instance, { instance, digest: '1-a', ...changes });
  const problem = 'resources: they could not be read';

  it.each([
    ['its leader, if it can', [able('a'), able('leader')], 'leader'],
    ['another node, if the leader never read the resources', [able('a'), able('leader', { digest: undefined })], 'a'],
    ['another node, if the leader handed it on', [able('a'), able('leader', { yields: true, problem })], 'a'],
    [
      'the node that runs longest of those that can',
      [able('b', { startedAt: NOW - 9, yields: true, problem }), able('a'), able('leader', { yields: true, problem })],
      'a',
    ],
    [
      'a node that handed it on and can decide now, before those that still can not',
      [able('a', { yields: true }), able('leader', { yields: true, problem })],
      'a',
    ],
    [
      'the leader, if no node can',
      [able('a', { yields: true, problem }), able('leader', { problem, yields: true })],
      'leader',
    ],
    [
      'the leader, while no node has read the resources',
      [able('a', { digest: undefined }), able('leader', { digest: undefined })],
      'leader',
    ],
  ])('%s', (_, living, decider) => {
    expect(deciderOf(living, 'leader')).toBe(decider);
  });
});

describe('a node that leads and can never read the resources', () => {
  const cluster = useCluster();

  /** The node `broken` leads; the others start after it. */
  async function withBrokenLeader(nodes: TestCluster, resources: () => string[] | Promise<string[]>) {
    const leader = await startOwner(nodes, { resources });
    await pass(nodes, [leader], LEASE);
    const others = [await startOwner(nodes), await startOwner(nodes)];
    return { leader, others, owners: [leader, ...others] };
  }

  it.each<[string, () => string[] | Promise<string[]>]>([
    ['because that throws', broken],
    ['because that never ends', () => new Promise<string[]>(() => undefined)],
  ])('lets others decide, %s', async (_, resources) => {
    const nodes = cluster();
    const { leader, owners } = await withBrokenLeader(nodes, resources);
    expect(isLeader(leader)).toBe(true);
    await pass(nodes, owners, 2 * BEGIN, () => total(owners) === 6);
    expect(isLeader(leader)).toBe(true);
  });

  it('is named by every node, in its faults and in its health', async () => {
    const nodes = cluster();
    const { owners } = await withBrokenLeader(nodes, broken);
    await pass(nodes, owners, 2 * BEGIN, () => total(owners) === 6);
    await pass(nodes, owners, LEASE);
    for (const owner of owners) {
      expect(await faultsOf(owner)).toContain('wrong password');
      expect(codesOf(owner)).toEqual(['allocation-failing']);
    }
  });

  it('takes the decision back when it can read them', async () => {
    const nodes = cluster();
    let isBroken = true;
    const read = () => (isBroken ? broken() : letters('abcdef'));
    const { leader, others, owners } = await withBrokenLeader(nodes, read);
    await pass(nodes, owners, 2 * BEGIN, () => total(owners) === 6);
    isBroken = false;
    await pass(nodes, owners, 60_000);
    await nodes.closeOne(others[0]!);
    await pass(nodes, owners, CRASH, () => total(owners) === 6 && sizesOf([others[0]!])[0] === 0);
    expect(leader.of('allocation-changed').length).toBeGreaterThan(0);
    expect(codesOf(leader)).toEqual([]);
  });

  it('lets others give the resources of a node that left to the living', async () => {
    const nodes = cluster();
    const { owners, others } = await withBrokenLeader(nodes, broken);
    await pass(nodes, owners, 2 * BEGIN, () => total(owners) === 6);
    await nodes.closeOne(others[0]!);
    await pass(nodes, owners, CRASH, () => total(owners) === 6 && others[0]!.group.owned().length === 0);
  });
});

describe('a strategy that throws', () => {
  const cluster = useCluster();

  /** Strategies that count their calls, and throw while `broken` has the place of their node. */
  function strategies() {
    const calls = [0, 0, 0];
    const throwing = new Set<number>();
    const at =
      (place: number): StrategyFunction =>
      ({ resources, participants }) => {
        calls[place]!++;
        if (throwing.has(place)) throw new Error('a mistake');
        return resources.map((id, index) => [id, participants[index % participants.length]!.id] as const);
      };
    return { calls, throwing, at };
  }

  async function start(nodes: TestCluster) {
    const { calls, throwing, at } = strategies();
    const source = { ids: 'abcdef' };
    const resources = () => letters(source.ids);
    const owners: Owner[] = [];
    for (const place of [0, 1, 2]) {
      owners.push(await startOwner(nodes, { resources, strategy: at(place), refreshInterval: 1000, settleDelay: 0 }));
      await pass(nodes, owners, place === 0 ? BEGIN : 100);
    }
    await pass(nodes, owners, 2 * BEGIN, () => sizesOf(owners).join() === '2,2,2');
    return { calls, throwing, source, owners };
  }

  it('on the node that decides lets another one decide', async () => {
    const nodes = cluster();
    const { throwing, source, owners } = await start(nodes);
    throwing.add(owners.findIndex(isLeader));
    source.ids = 'abcdefghi';
    await pass(nodes, owners, LEASE, () => total(owners) === 9);
    await pass(nodes, owners, LEASE);
    for (const owner of owners) expect(await faultsOf(owner)).toContain('a mistake');
  });

  it('on every node is tried once on each, and then only on the leader', async () => {
    const nodes = cluster();
    const { calls, throwing, source, owners } = await start(nodes);
    const leader = owners.findIndex(isLeader);
    for (const place of [0, 1, 2]) throwing.add(place);
    source.ids = 'abcdefghi';
    const before = [...calls];
    await pass(nodes, owners, 60_000);
    const tried = calls.map((count, place) => count - before[place]!);
    expect(tried.filter((_, place) => place !== leader)).toEqual([1, 1]);
    for (const owner of owners) expect(codesOf(owner)).toContain('allocation-failing');
    expect(owners.flatMap((owner) => owner.of('resources-unowned'))).toMatchObject([{ count: 3 }]);
    throwing.clear();
    await pass(nodes, owners, 5000, () => total(owners) === 9);
    await pass(nodes, owners, LEASE);
    expect(codesOf(owners[leader]!)).not.toContain('resources-unowned');
  });
});

describe('a group of healthy nodes', () => {
  const cluster = useCluster();

  it('has no fault', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    await pass(nodes, owners, LEASE);
    for (const owner of owners) expect([await faultsOf(owner), codesOf(owner)]).toEqual(['', []]);
  });
});
