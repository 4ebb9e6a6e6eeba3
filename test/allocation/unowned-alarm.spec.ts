import { type StrategyFunction, StoreUnavailableError } from 'nestjs-gatekeeper';
import { UnownedAlarm } from '../../lib/allocation/unowned-alarm.js';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { kill } from '../support/members.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import { finish } from './divisions.js';
import { BEGIN, LEASE, type Owner, TOLERANCE, letters, pass, sizesOf, startOwner, startOwners } from './groups.js';

/** ms after which resources without an owner are an alarm. */
const PATIENCE = LEASE + TOLERANCE + 5000;
/** ms after which the alarm has surely come, if the resources lose their owners now. */
const UNOWNED_FOR_LONG = PATIENCE + 1000;
/**
 * ms until another node decides, at most: in its eyes the crashed node may be the next one, until its next heartbeat. The
 * alarm of each node counts from its own first decision.
 */
const HAND_ON = (1.1 * LEASE) / 3;
const ROOT = 'allocation:root:queues';

const leads = ({ gatekeeper }: Owner) => gatekeeper.allocation.cluster.scope().isLeader;
const alarmsOf = (owners: readonly Owner[]) => owners.flatMap((owner) => owner.of('resources-unowned'));

/** Another node than the leader crashes. @returns those that live */
function crashOne(owners: readonly Owner[]): Owner[] {
  const gone = owners.find((owner) => !leads(owner))!;
  kill(gone);
  return owners.filter((owner) => owner !== gone);
}

function breakRoot(nodes: TestCluster): void {
  (nodes.raw as unknown as { cluster: { records: { texts: Map<string, string> } } }).cluster.records.texts.set(
    ROOT,
    '{"v":1,"oops":',
  );
}

describe('the alarm about resources without an owner', () => {
  const cluster = useCluster();

  it('comes although the strategy throws', async () => {
    const nodes = cluster();
    let isBroken = false;
    const strategy: StrategyFunction = ({ resources, participants }) => {
      if (isBroken) throw new Error('a mistake');
      return resources.map((id, at) => [id, participants[at % participants.length]!.id] as const);
    };
    const left = crashOne(await startOwners(nodes, 3, { strategy }));
    isBroken = true;
    await pass(nodes, left, LEASE + TOLERANCE + HAND_ON + UNOWNED_FOR_LONG, () => alarmsOf(left).length > 0);
    expect(nodes.time.monotonic() - left.find(leads)!.group.unowned!.since).toBeLessThan(PATIENCE + 100);
    expect(alarmsOf(left)).toMatchObject([{ group: 'queues', count: 2 }]);
    expect(left.find(leads)!.group.unowned!.sentence).toContain('a mistake');
    isBroken = false;
    await pass(nodes, left, 5000, () => left.every(({ group }) => group.unowned === undefined));
  });

  it('comes while a member does not confirm the first owner map', async () => {
    const nodes = cluster();
    const one = await startOwner(nodes);
    const other = await startOwner(nodes);
    other.store.script = async (call, go, key) => {
      if (call === 'compareAndSet' && key === ROOT) throw new StoreUnavailableError('cut off');
      return go();
    };
    await pass(nodes, [one, other], UNOWNED_FOR_LONG + 3000);
    expect(alarmsOf([one])).toMatchObject([{ count: 6 }]);
    expect(one.group.unowned!.sentence).toContain('until every member has confirmed it');
  });

  it('comes if the owner map can not be read when a node crashes, and ends with that', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    breakRoot(nodes);
    const left = crashOne(owners);
    await pass(nodes, left, LEASE + TOLERANCE + HAND_ON + UNOWNED_FOR_LONG + 1000);
    expect(alarmsOf(left)).toHaveLength(1);
    expect(alarmsOf(left)[0]!.count).toBeUndefined();
    expect(alarmsOf(left)[0]!.sentence).toMatch(/not been able to decide .* resources may have no owner: .*not JSON/);
    nodes.lose(ROOT);
    await pass(nodes, left, 3 * BEGIN, () => sizesOf(left).join() === '3,3');
    await pass(nodes, left, 2000);
    expect(left.map(({ group }) => group.unowned)).toEqual([undefined, undefined]);
  });

  it('comes if the resources could never be read', async () => {
    const nodes = cluster();
    const resources = () => {
      throw new Error('the database is down');
    };
    const one = await startOwner(nodes, { resources });
    await pass(nodes, [one], UNOWNED_FOR_LONG);
    expect(alarmsOf([one])).toHaveLength(1);
    expect(one.gatekeeper.health()).toMatchObject({
      faults: [{ code: 'resources-unowned' }, { code: 'allocation-failing' }],
    });
    expect(one.group.unowned!.sentence).toContain('the database is down');
  });

  it('comes if the owner map can not be written', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    const left = crashOne(owners);
    for (const { store } of left) {
      store.script = async (call, go, key) => (call === 'compareAndSet' && key === ROOT ? (false as never) : go());
    }
    await pass(nodes, left, LEASE + TOLERANCE + UNOWNED_FOR_LONG + 1000);
    expect(alarmsOf(left)).toHaveLength(1);
  });

  it('does not come while resources move one after another, each soon, however long all of them take', async () => {
    const nodes = cluster();
    const resources = () => letters('abcdefghijklmnopqrstuvwxyz');
    const onAllocated = (_: unknown, { revoked }: { revoked: readonly unknown[] }) =>
      revoked.length > 0 ? new Promise<void>((resolve) => nodes.time.schedule(resolve, 1500)) : undefined;
    const slowly = { resources, onAllocated, movement: { count: 1 }, settleDelay: 0 };
    const one = await startOwner(nodes, slowly);
    await pass(nodes, [one], BEGIN, () => one.group.owned().length === 26);
    const owners = [one, await startOwner(nodes, slowly)];
    const took = await pass(nodes, owners, 60_000, () => sizesOf(owners).join() === '13,13');
    expect(took).toBeGreaterThan(PATIENCE + 3000);
    expect(alarmsOf(owners)).toEqual([]);
  });

  it('tells of those that have had none for long, and not of others that move', async () => {
    const nodes = cluster();
    const { context } = partsOf((await nodes.node()).gatekeeper);
    const raised = new UnownedAlarm('queues', context, LEASE);
    const check = async (unowned: string) => {
      finish(raised.observe(letters(unowned)));
      raised.check(() => 'it is stuck');
      await nodes.time.advance(1000);
      return raised.current?.sentence;
    };
    for (let moved = 0; moved * 1000 < PATIENCE; moved++) expect(await check(`x${moved % 10}`)).toBeUndefined();
    expect(await check('x0')).toBe('1 resources of group "queues" have had no owner for 12 s: it is stuck');
    expect(await check('01')).toBeUndefined();
  });

  it('does not come while all resources have owners, nor in the grace of a new group', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2, { resources: () => letters('abcdef') });
    await pass(nodes, owners, 60_000);
    expect(alarmsOf(owners)).toEqual([]);
  });
});
