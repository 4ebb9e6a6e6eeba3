import type { AllocationPlan } from 'nestjs-gatekeeper';
import { groupSchema } from '../../lib/allocation/group-options.js';
import { kill } from '../support/members.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import { BEGIN, CRASH, type Owner, letters, pass, sizesOf, startOwner, startOwners } from './groups.js';

const isLeader = ({ gatekeeper }: Owner) => gatekeeper.allocation.cluster.scope().isLeader;
const leaderOf = (owners: readonly Owner[]) => owners.find(isLeader)!;
const othersOf = (owners: readonly Owner[]) => owners.filter((owner) => !isLeader(owner));

/** Resources that the application reads slowly: it returns those of the moment at which the reading began. */
function slowResources({ time }: TestCluster) {
  const source = { ids: 'abcdef', delay: 0, begun: 0 };
  const resources = async () => {
    source.begun++;
    const found = letters(source.ids);
    if (source.delay > 0) await new Promise<void>((resolve) => time.schedule(resolve, source.delay));
    return found;
  };
  return { source, resources };
}

describe('a new leader that can not read the resources', () => {
  const cluster = useCluster();

  /** Three nodes that divided a to f. After that no node can read the resources, and the leader crashes. */
  async function crashedLeader(resourcesAt: (at: number, isDown: boolean) => string[]) {
    const nodes = cluster();
    let isDown = false;
    const owners: Owner[] = [];
    for (const at of [0, 1, 2]) {
      const resources = () => resourcesAt(at, isDown);
      owners.push(await startOwner(nodes, { resources, refreshInterval: '1m' }));
    }
    await pass(nodes, owners, 2 * BEGIN, () => sizesOf(owners).join() === '2,2,2');
    isDown = true;
    await pass(nodes, owners, 70_000);
    const [leader, others] = [leaderOf(owners), othersOf(owners)];
    kill(leader);
    return { nodes, others, repair: () => (isDown = false) };
  }

  it('gives the resources of the last one to others, by what it read before', async () => {
    const { nodes, others } = await crashedLeader((_, isDown) => {
      if (isDown) throw new Error('the database is down');
      return letters('abcdef');
    });
    await pass(nodes, others, CRASH + 3000, () => sizesOf(others).join() === '3,3');
    const faults = (await Promise.all(others.map(({ group }) => group.overview()))).flatMap((each) => each.faults);
    expect(faults.join('\n')).toContain('the database is down. The 6 resources that are known stay');
  });

  it('takes nothing away that only the last one had read', async () => {
    const { nodes, others, repair } = await crashedLeader((at, isDown) => {
      if (isDown) throw new Error('the database is down');
      return letters(at === 0 ? 'abcdef' : 'abc');
    });
    const before = others.map(({ group }) => group.owned());
    await pass(nodes, others, CRASH + 3000, () => sizesOf(others).join() === '3,3');
    for (const [at, { group }] of others.entries()) {
      expect(group.owned().map(({ id }) => id)).toEqual(expect.arrayContaining(before[at]!.map(({ id }) => id)));
    }
    repair();
    await pass(nodes, others, 70_000, () => sizesOf(others).join() === '2,1');
  });

  it('decides nothing if it never could read them', async () => {
    const { nodes, others } = await crashedLeader((at, isDown) => {
      if (isDown || at > 0) throw new Error('the database is down');
      return letters('abcdef');
    });
    await pass(nodes, others, 2 * CRASH);
    expect(sizesOf(others)).toEqual([2, 2]);
  });
});

describe('rebalance', () => {
  const cluster = useCluster();

  it('is answered by a reading that began after it, also if the leader is reading already', async () => {
    const nodes = cluster();
    const sources = [slowResources(nodes), slowResources(nodes)];
    const owners: Owner[] = [];
    for (const { resources } of sources) owners.push(await startOwner(nodes, { resources, refreshInterval: '60s' }));
    await pass(nodes, owners, 2 * BEGIN, () => sizesOf(owners).join() === '3,3');
    const leaders = sources[owners.findIndex(isLeader)]!.source;
    const { begun } = leaders;
    leaders.delay = 3000;
    await pass(nodes, owners, 70_000, () => leaders.begun > begun);
    for (const { source } of sources) source.ids = 'abcdefgh';
    const asked = othersOf(owners)[0]!.group.rebalance();
    await pass(nodes, owners, 10_000, () => sizesOf(owners).join() === '4,4');
    await asked;
  });

  it.each([
    ['shuts down', 0],
    ['shuts down', 1],
    ['crashes', 0],
    ['crashes', 1],
  ])(
    'is answered by the next leader if this one %s before it reads (asked by node %i of the others)',
    async (how, at) => {
      const nodes = cluster();
      let ids = 'abcdef';
      const owners = await startOwners(nodes, 3, { resources: () => letters(ids), refreshInterval: '10m' });
      const [leader, others] = [leaderOf(owners), othersOf(owners)];
      ids = 'abcdefgh';
      if (how === 'crashes') kill(leader);
      const asked = others[at]!.group.rebalance();
      await nodes.time.advance(0);
      const closed = how === 'crashes' ? undefined : leader.gatekeeper.close();
      await pass(nodes, others, CRASH + 3000, () => sizesOf(others).join() === '4,4');
      await Promise.all([asked, closed]);
    },
  );

  it('lets other changes go on while the resources are read slowly', async () => {
    const nodes = cluster();
    const { source, resources } = slowResources(nodes);
    const owners = await startOwners(nodes, 3, { resources });
    source.delay = 29_000;
    void leaderOf(owners).group.rebalance();
    await pass(nodes, owners, 1000);
    const gone = othersOf(owners)[0]!;
    const left = owners.filter((owner) => owner !== gone);
    const closed = gone.gatekeeper.close();
    await pass(nodes, left, 2000, () => sizesOf(left).join() === '3,3');
    await closed;
  });

  it('can be called while a reading begins, and the next reading comes later', async () => {
    const nodes = cluster();
    let [calls, isAsking] = [0, false];
    const one: Owner = await startOwner(nodes, {
      resources: () => {
        calls++;
        // An endless recursion would end as a RangeError of the stack, far above this.
        if (isAsking && calls < 1000) void one.group.rebalance();
        return letters('abcdef');
      },
    });
    await pass(nodes, [one], BEGIN, () => sizesOf([one]).join() === '6');
    isAsking = true;
    await one.group.rebalance();
    await pass(nodes, [one], 200);
    expect(calls).toBeGreaterThan(2);
    expect(calls).toBeLessThan(30);
  });
});

describe('a plan', () => {
  const cluster = useCluster();

  it('can be made while the first reading begins', async () => {
    const nodes = cluster();
    const { gatekeeper } = await startOwner(nodes);
    let calls = 0;
    const plans: Promise<AllocationPlan>[] = [];
    const resources = () => {
      if (++calls < 1000) plans.push(later.plan());
      return letters('xyz');
    };
    const later = gatekeeper.allocation.add('later', groupSchema.parse({ resources, id: String }));
    await nodes.time.advance(200);
    expect((await plans[0]!).moves).toHaveLength(3);
    expect(calls).toBeLessThan(5);
  });
});
