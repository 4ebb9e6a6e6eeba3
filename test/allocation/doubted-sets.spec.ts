import fc from 'fast-check';
import { type MasterSet, readMasterSet } from '../../lib/allocation/resources/master-set.js';
import { type MasterSetState, settleDoubt, takeReading } from '../../lib/allocation/resources/master-set-state.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import { finish } from './divisions.js';
import { BEGIN, LEASE, type Owner, letters, pass, sizesOf, startOwner } from './groups.js';

const setOf = (ids: readonly string[]): MasterSet => finish(readMasterSet('queues', ids, (item) => item));
const of = (text: string) => setOf(letters(text));
const idsOf = ({ current }: MasterSetState) => current?.ids.join('') ?? 'none';
const isLeader = ({ gatekeeper }: Owner) => gatekeeper.allocation.cluster.scope().isLeader;
const leaderOf = (owners: readonly Owner[]) => owners.find(isLeader)!;
const total = (owners: readonly Owner[]) => sizesOf(owners).reduce((sum, size) => sum + size, 0);
const owns = (owners: readonly Owner[], id: string) => owners.some(({ group }) => group.owns(id));
const faultsOf = async ({ group }: Owner) => (await group.overview()).faults.join('\n');

describe('a reading that lacks more than half', () => {
  /** @param others what the other nodes read; "!" could never read */
  const readTwice = (readings: readonly string[], others: readonly string[], known = 'abcdefgh') => {
    let state: MasterSetState = { current: of(known) };
    const nodes = others.map((text) => (text === '!' ? { node: 'x' } : { node: 'x', digest: of(text).digest }));
    return readings.map((text) => {
      state = settleDoubt(finish(takeReading(state, of(text), [])), nodes);
      return `${idsOf(state)}${state.problem === undefined ? '' : '?'}`;
    });
  };

  it.each([
    ['alone, with the second one', ['ab', 'ab'], [], ['abcdefgh?', 'ab']],
    ['when two of three read the same', ['ab', 'ab'], ['ab', 'abcdefgh'], ['abcdefgh?', 'ab']],
    ['when the other could never read', ['ab', 'ab'], ['!'], ['abcdefgh?', 'ab']],
    ['with what both lack, if the source goes on changing', ['abx', 'aby'], [], ['abcdefgh?', 'aby']],
    ['with what either has of the known ones', ['abx', 'bcy'], [], ['abcdefgh?', 'abcy']],
    ['when the others read as few of a changing source', ['abx', 'aby'], ['abz'], ['abcdefgh?', 'aby']],
  ])('counts %s', (_, readings, others, count) => {
    expect(readTwice(readings, others)).toEqual(count);
  });

  it.each([
    ['when the other one reads another set', ['ab', 'ab'], ['abcdefgh']],
    ['when one of three others agrees', ['ab', 'ab'], ['ab', 'abcdefgh', 'abcdefgh']],
    ['when others read as few, but others', ['ab', 'ab'], ['cd']],
    ['when the others read all of a changing source', ['abx', 'aby'], ['abcdefghz']],
    ['once', ['ab'], ['ab', 'ab']],
  ])('does not count %s', (_, readings, others) => {
    expect(readTwice(readings, others)).toEqual(readings.map(() => 'abcdefgh?'));
  });

  it.each([
    ['counts at once', 'ab', 2, 'ab'],
    ['counts at once, also with more', 'abc', 2, 'abc'],
    ['does not count with fewer', 'a', 2, 'abcdefgh'],
    ['does not count with fewer known ones and more new ones', 'axyz', 2, 'abcdefgh'],
    ['counts with nothing', '', 0, ''],
  ])('of which an operator confirmed a set %s', (_, reading, enough, counts) => {
    expect(idsOf(finish(takeReading({ current: of('abcdefgh') }, of(reading), [], enough)))).toBe(counts);
  });

  it('leaves a new leader with what the owner map has', () => {
    expect(idsOf(finish(takeReading({}, of('z'), letters('cab'))))).toBe('abc');
  });

  it('never removes what a reading of the last two had, whatever the source returns', () => {
    const ids = fc.uniqueArray(fc.constantFrom(...letters('abcdefghijkl')), { maxLength: 12 });
    fc.assert(
      fc.property(ids, fc.array(ids, { maxLength: 6 }), (first, readings) => {
        let state: MasterSetState = { current: setOf(first) };
        let last = first;
        for (const reading of readings) {
          const { current } = state;
          state = settleDoubt(finish(takeReading(state, setOf(reading), [])), []);
          const removed = current!.ids.filter((id) => !state.current!.ids.includes(id));
          const isFew = current!.ids.filter((id) => reading.includes(id)).length * 2 < current!.ids.length;
          const had = (id: string) => reading.includes(id) || (isFew && last.includes(id));
          expect(removed.filter(had)).toEqual([]);
          expect(isFew || state.current!.ids.join() === reading.toSorted().join()).toBe(true);
          last = reading;
        }
      }),
    );
  });
});

describe('a group whose set shrinks to less than half', () => {
  const cluster = useCluster();
  const OLD = Array.from({ length: 40 }, (_, at) => `old-${at}`);
  const NEW = [...OLD.slice(0, 16), 'stable-new'];

  async function start(nodes: TestCluster, sources: readonly (() => string[])[]): Promise<Owner[]> {
    const owners: Owner[] = [];
    for (const resources of sources)
      owners.push(await startOwner(nodes, { resources, refreshInterval: 1000, settleDelay: 0 }));
    await pass(nodes, owners, 2 * BEGIN, () => total(owners) === OLD.length && sizesOf(owners).at(-1)! > 0);
    return owners;
  }

  it('and changes with each reading follows it', async () => {
    const nodes = cluster();
    let [isSmall, calls] = [false, 0];
    const resources = () => (isSmall ? [...NEW, `job-${calls++}`] : OLD);
    const owners = await start(nodes, [resources, resources]);
    isSmall = true;
    await pass(nodes, owners, 10_000, () => owns(owners, 'stable-new') && !owns(owners, 'old-39'));
    expect(total(owners)).toBeLessThanOrEqual(NEW.length + 1);
  });

  /** Three nodes read all; the one that leads reads nothing. */
  async function withOddLeader(nodes: TestCluster, isNew = false) {
    let isOdd = false;
    const sources = [0, 1, 2, 3].map(
      (place) => () => (isOdd && odd === place ? [] : isOdd && isNew ? [...OLD, 'new'] : OLD),
    );
    let odd = -1;
    const owners = await start(nodes, sources);
    odd = owners.indexOf(leaderOf(owners));
    isOdd = true;
    return { owners, repair: () => (isOdd = false) };
  }

  it('only on the node that leads keeps its owners, and every node says so', async () => {
    const nodes = cluster();
    const { owners } = await withOddLeader(nodes);
    await pass(nodes, owners, 60_000);
    expect(total(owners)).toBe(OLD.length);
    for (const owner of owners) {
      expect(await faultsOf(owner)).toContain('0 of 40 known resources');
      expect(owner.gatekeeper.health().faults).toMatchObject([{ code: 'allocation-failing' }]);
    }
  });

  it('only on the node that leads is left to another node, which gives new resources an owner', async () => {
    const nodes = cluster();
    const { owners, repair } = await withOddLeader(nodes, true);
    await pass(nodes, owners, 60_000, () => owns(owners, 'new'));
    repair();
    await pass(nodes, owners, 60_000);
    for (const owner of owners) expect(owner.gatekeeper.health().faults).toEqual([]);
  });

  it('on a node that comes to lead takes nothing from others', async () => {
    const nodes = cluster();
    const owners = await start(nodes, [() => OLD, () => OLD, () => OLD]);
    const odd = await startOwner(nodes, { resources: () => [], refreshInterval: 1000, settleDelay: 0 });
    const all = [...owners, odd];
    await pass(nodes, all, LEASE);
    await leaderOf(owners).gatekeeper.allocation.cluster.transferTo(odd.gatekeeper.node.instance);
    await pass(nodes, all, LEASE, () => isLeader(odd));
    await pass(nodes, all, 30_000);
    expect(total(all)).toBe(OLD.length);
  });

  it('counts when an operator confirms it, whatever others read', async () => {
    const nodes = cluster();
    let isSmall = false;
    const owners = await start(nodes, [() => (isSmall ? NEW : OLD), () => OLD]);
    isSmall = true;
    await pass(nodes, owners, 5000);
    expect(total(owners)).toBe(OLD.length);
    const [leader, other] = [leaderOf(owners), owners.find((owner) => !isLeader(owner))!];
    expect((await other.group.overview()).doubt).toEqual({
      node: leader.gatekeeper.node.acquirer,
      known: 40,
      left: 16,
    });
    const confirmed = other.group.confirmResources();
    await pass(nodes, owners, 5000, () => owns(owners, 'stable-new') && total(owners) === NEW.length);
    expect(await confirmed).toBe(true);
    await pass(nodes, owners, LEASE);
    for (const { group } of owners) expect(await group.overview()).not.toHaveProperty('doubt');
  });

  it('counts no smaller set than the one that an operator confirmed, then or later', async () => {
    const nodes = cluster();
    let ids = OLD;
    const owners = await start(nodes, [() => ids, () => OLD]);
    const [leader, other] = [leaderOf(owners), owners.find((owner) => !isLeader(owner))!];
    const confirm = async ({ group }: Owner, set?: { left: number }) => {
      const confirmed = group.confirmResources(set);
      await pass(nodes, owners, 3000);
      return confirmed;
    };
    expect(await confirm(other)).toBe(false);
    ids = NEW;
    await pass(nodes, owners, 5000);
    expect((await other.group.overview()).doubt?.left).toBe(16);
    ids = [];
    expect(await confirm(leader, { left: 16 })).toBe(true);
    expect([total(owners), await confirm(other, { left: 16 })]).toEqual([OLD.length, false]);
    ids = NEW;
    await pass(nodes, owners, 5000);
    expect(total(owners)).toBe(OLD.length);
    expect(await confirm(other)).toBe(true);
    expect([total(owners), await confirm(other)]).toEqual([NEW.length, false]);
  });

  it.each([-1, 1.5, '3', Number.NaN])('is not confirmed with %j known resources', async (left) => {
    const [owner] = await start(cluster(), [() => OLD]);
    await expect(owner!.group.confirmResources({ left: left as number })).rejects.toMatchObject({
      code: 'invalid-options',
    });
  });

  it('does not count for a rebalance, which an application may ask for by itself', async () => {
    const nodes = cluster();
    let isSmall = false;
    const owners = await start(nodes, [() => (isSmall ? [] : OLD), () => OLD]);
    isSmall = true;
    for (let times = 0; times < 3; times++) {
      const asked = owners[1]!.group.rebalance();
      await pass(nodes, owners, 3000);
      await asked;
    }
    expect(total(owners)).toBe(OLD.length);
  });

  it('on all nodes counts after two readings', async () => {
    const nodes = cluster();
    let ids = OLD;
    const resources = () => ids;
    const owners = await start(nodes, [resources, resources, resources]);
    ids = [];
    await pass(nodes, owners, 2000 + LEASE, () => total(owners) === 0);
  });
});
