import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { groupSchema } from '../../lib/allocation/index.js';
import { deciderOf } from '../../lib/allocation/mandate.js';
import { kill, pageOf } from '../support/members.js';
import { type TestCluster, type TestNode, useCluster } from '../support/nodes.js';
import {
  BEGIN,
  CRASH,
  GROUP,
  LEASE,
  type Owner,
  TOLERANCE,
  letters,
  pass,
  sharesOf,
  sizesOf,
  startOwner,
  startOwners,
} from './groups.js';
import { NOW, anEntry } from './maps.js';

describe('decides on a group', () => {
  const entry = (instance: string, changes = {}) => anEntry(instance, { instance, ...changes });

  it.each([
    ['the leader, if it takes part', [entry('a'), entry('leader', { startedAt: NOW + 9 })], 'leader'],
    ['else the node that runs longest', [entry('a'), entry('b', { startedAt: NOW - 9 })], 'b'],
    ['of nodes that started together, the same one everywhere', [entry('b'), entry('a')], 'a'],
    ['a node with the weight 0 last: it may be shutting down', [entry('a', { weight: 0 }), entry('b')], 'b'],
    ['a node with the weight 0, if there is no other', [entry('a', { weight: 0 })], 'a'],
    ['the leader, if no node is known: its own entry may not be written yet', [], 'leader'],
  ])('%s', (_, living, decider) => {
    expect(deciderOf(living, 'leader')).toBe(decider);
  });
});

describe('a group that the leader does not have', () => {
  const cluster = useCluster();

  /** The leader has only another group. */
  async function startLeader(nodes: TestCluster): Promise<Owner> {
    const leader = await startOwner(nodes, { name: 'tenants' });
    await pass(nodes, [leader], 2 * BEGIN, () => sizesOf([leader]).join() === '6');
    expect(leader.gatekeeper.allocation.cluster.scope().isLeader).toBe(true);
    return leader;
  }

  async function startOthers(nodes: TestCluster, count: number, isEven: string): Promise<Owner[]> {
    const owners: Owner[] = [];
    for (let each = 0; each < count; each++) {
      owners.push(await startOwner(nodes));
      await nodes.time.advance(10);
    }
    await pass(nodes, owners, 2 * BEGIN, () => sizesOf(owners).join() === isEven);
    return owners;
  }

  const changesAt = ({ of }: TestNode) => of('allocation-changed').filter(({ group }) => group === GROUP).length;

  it('is divided by the node of the group that runs longest', async () => {
    const nodes = cluster();
    const leader = await startLeader(nodes);
    const owners = await startOthers(nodes, 3, '2,2,2');
    expect([leader, ...owners].map((node) => changesAt(node) > 0)).toEqual([false, true, false, false]);
    expect((await owners[2]!.group.overview()).faults).toEqual([]);
  });

  it.each([
    ['that divides it', 0],
    ['beside it', 2],
  ])('is divided over the others as soon as usual when the node %s crashed', async (_, which) => {
    const nodes = cluster();
    await startLeader(nodes);
    const owners = await startOthers(nodes, 3, '2,2,2');
    kill(owners[which]!);
    const living = owners.filter((_owner, at) => at !== which);
    const took = await pass(nodes, owners, 2 * CRASH, () => sizesOf(living).join() === '3,3');
    expect(took).toBeLessThan(CRASH);
  });

  it('is divided by a node that starts when all others are long gone, as soon as it has watched for a lease', async () => {
    const nodes = cluster();
    await startLeader(nodes);
    const gone = await startOthers(nodes, 2, '3,3');
    for (const owner of gone) kill(owner);
    const pages = await Promise.all(gone.map((owner) => pageOf(nodes, owner)));
    // As if other members of these pages had dropped their entries.
    for (const page of pages) nodes.lose(page);
    await nodes.time.advance(2 * CRASH);
    const late = await startOwner(nodes);
    // Its first heartbeat makes its own page, which begins the watch anew.
    const most = (1.1 * LEASE) / 3 + LEASE + TOLERANCE + 1000;
    const took = await pass(nodes, [late], 2 * CRASH, () => sharesOf([late]) === 'abcdef');

    expect(took).toBeLessThan(most);
  });

  it('is divided over the others at once when the node that divides it closes', async () => {
    const nodes = cluster();
    await startLeader(nodes);
    const owners = await startOthers(nodes, 3, '2,2,2');
    await nodes.closeOne(owners[0]!);
    const took = await pass(nodes, owners, CRASH, () => sizesOf(owners).join() === '3,3,0');
    expect(took).toBeLessThan(1000);
  });

  it('goes on being divided when its leader closes, and a node without the group leads', async () => {
    const nodes = cluster();
    const [first] = await startOthers(nodes, 1, '6');
    const other = await startOwner(nodes, { name: 'tenants' });
    const owners = [first!, await startOwner(nodes)];
    await pass(nodes, owners, BEGIN, () => sizesOf(owners).join() === '3,3');
    await nodes.closeOne(first!);
    await pass(nodes, owners, CRASH, () => sharesOf(owners) === '|abcdef');
    expect(other.gatekeeper.allocation.cluster.scope().isLeader).toBe(true);
  });

  it('is divided by the leader from when it takes part, and nothing moves because of that', async () => {
    const nodes = cluster();
    const leader = await startLeader(nodes);
    const owners = await startOthers(nodes, 2, '3,3');
    const before = sharesOf(owners);
    const added = { resources: () => letters('abcdef'), id: (item: unknown) => String(item), weight: 0 };
    leader.gatekeeper.allocation.add(GROUP, groupSchema.parse(added));
    await pass(nodes, owners, LEASE);
    expect(sharesOf(owners)).toBe(before);
    const changes = owners.map(changesAt);
    kill(owners[1]!);
    await pass(nodes, owners, CRASH, () => sharesOf(owners) === 'abcdef|');
    expect(changesAt(leader)).toBe(1);
    expect(owners.map(changesAt)).toEqual(changes);
  });

  it('is left alone while an operator has paused the leadership', async () => {
    const nodes = cluster();
    const leader = await startLeader(nodes);
    const owners = await startOthers(nodes, 2, '3,3');
    const { definitions } = leader.gatekeeper;
    await definitions.pause('leader:allocation');
    await pass(nodes, owners, LEASE);
    kill(owners[1]!);
    await pass(nodes, owners, 2 * CRASH);
    expect(sizesOf(owners)).toEqual([3, 0]);
    await definitions.resume('leader:allocation');
    await pass(nodes, owners, CRASH, () => sizesOf(owners).join() === '6,0');
  });

  it('costs as little as any other while nothing changes', async () => {
    const looksOf = async (hasLeader: boolean) => {
      const nodes = cluster();
      const leader = hasLeader ? await startLeader(nodes) : await startOwner(nodes, { weight: 0 });
      const owners = await startOthers(nodes, 3, '2,2,2');
      await pass(nodes, owners, 3 * LEASE);
      const count = () => [leader, ...owners].reduce((sum, { store }) => sum + store.calls.readMany, 0);
      const before = count();
      await pass(nodes, owners, 10 * LEASE);
      return count() - before;
    };
    const [usual, without] = [await looksOf(false), await looksOf(true)];
    expect(without).toBeLessThanOrEqual(usual * 1.1);
  });
});

describe('a pause of the leadership', () => {
  const cluster = useCluster();

  it('moves nothing, also if the leader has just crashed, and its permit outlasts its membership', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    const leader = owners.find(({ gatekeeper }) => gatekeeper.allocation.cluster.scope().isLeader)!;
    const others = owners.filter((owner) => owner !== leader);
    const before = sharesOf(others);
    leader.store.script = async (call, go, key) => {
      if (call === 'compareAndSet' && key?.startsWith('members:')) throw new StoreUnavailableError('cut off');
      return go();
    };
    await pass(nodes, owners, LEASE / 2);
    kill(leader);
    await others[0]!.gatekeeper.definitions.pause('leader:allocation');
    await pass(nodes, owners, 3 * CRASH);
    expect(sharesOf(others)).toBe(before);
    await others[0]!.gatekeeper.definitions.resume('leader:allocation');
    await pass(nodes, owners, CRASH, () => sizesOf(others).join() === '3,3');
  });
});
