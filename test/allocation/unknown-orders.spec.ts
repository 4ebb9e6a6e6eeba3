import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { groupSchema } from '../../lib/allocation/index.js';
import { DOUBT } from '../../lib/core/decision/doubt.js';
import { kill } from '../support/members.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import {
  BEGIN,
  CRASH,
  GROUP,
  LEASE,
  type Owner,
  letters,
  pass,
  sharesOf,
  sizesOf,
  startOwner,
  startOwners,
} from './groups.js';

const ORDERS = 'allocation:orders:queues';

const shareOf = (owner: Owner) => sharesOf([owner]);

/** The nodes app1 and app2, which have half of the resources each, and app3, which is drained. */
async function startDrained(nodes: TestCluster): Promise<Owner[]> {
  const owners = await startOwners(nodes, 3);
  await owners[0]!.group.drain('app3');
  await pass(nodes, owners, 5000, () => owners.map((owner) => shareOf(owner).length).join() === '3,3,0');
  return owners;
}

async function breakOrders(nodes: TestCluster): Promise<void> {
  nodes.lose(ORDERS);
  await nodes.raw.records.compareAndSet(ORDERS, undefined, '{"v":1,"oops":');
}

/** A node that starts when the orders can't be read, and then decides on the owners. */
async function startUnknowing(nodes: TestCluster, owners: Owner[]): Promise<Owner> {
  await breakOrders(nodes);
  const joined = await startOwner(nodes);
  owners.push(joined);
  const { cluster } = joined.gatekeeper.allocation;
  await pass(nodes, owners, LEASE);
  await cluster.transferTo(joined.gatekeeper.node.instance);
  await pass(nodes, owners, 5000, () => cluster.scope().isLeader);
  return joined;
}

describe('a leader that could never read the orders', () => {
  const cluster = useCluster();

  it('takes nothing from a living node', async () => {
    const nodes = cluster();
    const owners = await startDrained(nodes);
    const leader = await startUnknowing(nodes, owners);
    const before = sharesOf(owners);
    owners.push(await startOwner(nodes));
    await pass(nodes, owners, 3 * LEASE);
    expect(sharesOf(owners)).toBe(`${before}|`);
    expect((await leader.group.overview()).faults.join()).toContain('nothing is taken from a living node');
  });

  it('gives the resources of a crashed node to other owners, and none to a node that may be drained', async () => {
    const nodes = cluster();
    const owners = await startDrained(nodes);
    const leader = await startUnknowing(nodes, owners);
    kill(owners[0]!);
    const others = [owners[1]!, leader];
    await pass(nodes, owners, 2 * CRASH, () => sizesOf(others).join() === '3,3');
    expect(shareOf(owners[2]!)).toBe('');
  });

  it('gives everything to any node if no owner lives', async () => {
    const nodes = cluster();
    const owners = await startDrained(nodes);
    for (const owner of owners) kill(owner);
    await breakOrders(nodes);
    const joined = await startOwner(nodes, {}, { acquirer: 'app3' });
    await pass(nodes, [...owners, joined], 2 * CRASH, () => shareOf(joined) === 'abcdef');
  });

  it('follows the orders as soon as it can read them', async () => {
    const nodes = cluster();
    const owners = await startDrained(nodes);
    const leader = await startUnknowing(nodes, owners);
    owners.push(await startOwner(nodes));
    await pass(nodes, owners, LEASE);
    nodes.lose(ORDERS);
    await pass(nodes, owners, 3 * LEASE, () => sizesOf(owners).join() === '2,2,1,1,0');
    expect(shareOf(owners[2]!)).toBe('');
    expect((await leader.group.overview()).faults).toEqual([]);
  });

  it('plans nothing', async () => {
    const nodes = cluster();
    const leader = await startUnknowing(nodes, await startDrained(nodes));
    await expect(leader.group.plan()).rejects.toThrow('the orders of allocation group queues');
  });
});

describe('a leader that has not read the orders yet', () => {
  const cluster = useCluster();

  it('does not decide: a drained node gets nothing, also in the first moment', async () => {
    const nodes = cluster();
    const former = await startOwner(nodes);
    await former.group.drain('app1');
    // From now on all resources are free.
    await pass(nodes, [former], BEGIN);
    kill(former);
    const leader = await startOwner(nodes, { name: 'tenants' }, { acquirer: 'app1' });
    await pass(nodes, [leader], 3 * BEGIN, () => shareOf(leader) === 'abcdef');
    // A server that took over with old data doubts the text, so the node asks for it once more.
    const text = await nodes.raw.records.read(ORDERS);
    await nodes.raw.records.compareAndSet(ORDERS, text, `${DOUBT}${text}`);
    leader.store.script = async (call, go, key) => {
      if (call === 'read' && key === ORDERS) throw new StoreUnavailableError('no member answers');
      return go();
    };
    const options = groupSchema.parse({ resources: () => letters('abcdef'), id: String });
    const group = leader.gatekeeper.allocation.add(GROUP, options);
    let most = 0;
    group.owned$.subscribe((owned) => (most = Math.max(most, owned.length)));
    await pass(nodes, [leader], LEASE);
    leader.store.script = undefined;
    await pass(nodes, [leader], LEASE);
    expect((await group.overview()).drained).toEqual(['app1']);
    expect(most).toBe(0);
  });
});
