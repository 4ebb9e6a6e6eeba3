import type { StrategyFunction } from 'nestjs-gatekeeper';
import { kill } from '../support/members.js';
import { useCluster } from '../support/nodes.js';
import { BEGIN, CRASH, LEASE, letters, pass, sharesOf, sizesOf, startOwner, startOwners } from './groups.js';

describe('a group', () => {
  const cluster = useCluster();

  it('goes to the only node after its first grace', async () => {
    const nodes = cluster();
    const one = await startOwner(nodes);
    await pass(nodes, [one], BEGIN);
    expect(sharesOf([one])).toBe('abcdef');
    expect(one.told).toEqual([{ owned: letters('abcdef'), added: letters('abcdef'), revoked: [] }]);
    expect(one.group.owned().map(({ resource }) => resource)).toEqual(letters('abcdef'));
    expect(one.of('problem')).toEqual([]);
  });

  it('is shared evenly by three nodes', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    expect(sizesOf(owners)).toEqual([2, 2, 2]);
  });

  it('is divided anew within a second after a node has joined and the settle delay is over', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    owners.push(await startOwner(nodes));
    const took = await pass(nodes, owners, BEGIN, () => sizesOf(owners).join() === '2,2,2');
    expect(took).toBeLessThan(2000 + 1000);
  });

  it('is divided anew although the settle delay ended while the leader planned', async () => {
    const nodes = cluster();
    const strategy: StrategyFunction = ({ resources, participants }) => {
      nodes.time.freeze(150);
      return resources.map((id, index) => [id, participants[index % participants.length]!.id] as const);
    };
    const slow = { strategy, settleDelay: 100 };
    const owners = await startOwners(nodes, 2, slow);
    owners.push(await startOwner(nodes, slow));
    await pass(nodes, owners, LEASE, () => sizesOf(owners).join() === '2,2,2');
  });

  it('moves no more than it must when a node joins', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    const before = owners.map(({ group }) => group.owned().map(({ id }) => id));
    owners.push(await startOwner(nodes));
    await pass(nodes, owners, BEGIN, () => sizesOf(owners).join() === '2,2,2');
    for (const [at, ids] of before.entries()) {
      expect(owners[at]!.group.owned().filter(({ id }) => ids.includes(id))).toHaveLength(2);
    }
  });

  it('is divided over the others at once when a node closes', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    const counts: number[] = [];
    owners[2]!.group.owned$.subscribe((owned) => counts.push(owned.length));
    await nodes.closeOne(owners[2]!);
    expect(counts).toEqual([2, 0]);
    expect(owners[2]!.group.owned()).toEqual([]);
    expect(owners[2]!.told.at(-1)).toMatchObject({ owned: [], revoked: { length: 2 } });
    const took = await pass(nodes, owners, CRASH, () => sizesOf(owners).join() === '3,3,0');
    expect(took).toBeLessThan(1000);
  });

  it.each([
    ['leader', 0],
    ['other node', 2],
  ])('is divided over the others within lease and 2 s when the %s crashed', async (_, which) => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    kill(owners[which]!);
    const living = owners.filter((_owner, at) => at !== which);
    const took = await pass(nodes, owners, 2 * CRASH, () => sizesOf(living).join() === '3,3');
    expect(took).toBeLessThan(CRASH);
    expect(owners[which]!.group.owned()).toEqual([]);
    expect(owners[which]!.told.at(-1)).toMatchObject({ owned: [], revoked: { length: 2 } });
  });

  it('gets higher tokens with each change of owner', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    const tokens = new Map(owners[1]!.group.owned().map(({ id, token }) => [id, token]));
    kill(owners[1]!);
    await pass(nodes, owners, CRASH, () => sizesOf(owners).join() === '6,0');
    for (const [id, token] of tokens) {
      expect(owners[0]!.group.owned().find((each) => each.id === id)!.token).toBeGreaterThan(token);
    }
  });

  it('is kept by its owners when all data are lost, and each change after that gets a higher token', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 3);
    const before = sharesOf(owners);
    const highest = Math.max(...owners.flatMap(({ group }) => group.owned().map(({ token }) => token)));
    nodes.loseAll();
    await nodes.bear();
    await pass(nodes, owners, 3 * LEASE);
    expect(sharesOf(owners)).toBe(before);
    for (const { group } of owners) for (const { token } of group.owned()) expect(token).toBeGreaterThan(highest);
  });

  it('is given up by a node that cannot renew its lease, before others get it, and it gets a share again', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2);
    const lost = owners[1]!;
    lost.store.script = () => new Promise(() => undefined);
    await pass(nodes, owners, CRASH, () => sharesOf(owners) === 'abcdef|');
    lost.store.script = undefined;
    await pass(nodes, owners, BEGIN, () => sizesOf(owners).join() === '3,3');
    expect(lost.told.at(-2)).toMatchObject({ owned: [], added: [], revoked: { length: 3 } });
    expect(lost.told.at(-1)).toMatchObject({ added: { length: 3 }, revoked: [] });
  });

  it('is divided by weight, and a node with the weight 0 owns nothing', async () => {
    const nodes = cluster();
    const owners = [
      await startOwner(nodes, { weight: 2 }),
      await startOwner(nodes),
      await startOwner(nodes, { weight: 0 }),
    ];
    await pass(nodes, owners, 2 * BEGIN, () => owners.map(({ group }) => group.owned().length).join() === '4,2,0');
  });

  it('follows the resources: new ones get an owner, and gone ones are revoked', async () => {
    const nodes = cluster();
    let resources = letters('abcdef');
    const owners = await startOwners(nodes, 2, { resources: () => resources });
    resources = letters('abcdxy');
    await owners[1]!.group.rebalance();
    const all = () => letters(sharesOf(owners).replace('|', '')).toSorted().join('');
    const took = await pass(nodes, owners, BEGIN, () => all() === 'abcdxy');
    expect(took).toBeLessThan(1000);
    expect(sizesOf(owners)).toEqual([3, 3]);
  });

  it('follows the resources without a call, at the refresh interval', async () => {
    const nodes = cluster();
    let resources = letters('abcdef');
    const owners = await startOwners(nodes, 2, { resources: async () => resources, refreshInterval: '5s' });
    resources = letters('abcdefgh');
    await pass(nodes, owners, 7000, () => sizesOf(owners).join() === '4,4');
  });

  it('stays readable while its leader does not know cluster time: it asks again, because its wall clock was set', async () => {
    const nodes = cluster();
    let resources = letters('abcdef');
    const owners = await startOwners(nodes, 2, { resources: () => resources, refreshInterval: '1s' });
    const leader = owners.find(({ of }) => of('leadership-gained').length > 0)!;
    const asked = leader.store.calls.now;
    leader.store.script = (call, go) => (call === 'now' ? new Promise(() => undefined) : go());
    nodes.time.jumpWall(-60_000);
    await pass(nodes, owners, LEASE, () => leader.store.calls.now > asked);
    resources = letters('abcdefgh');
    await pass(nodes, owners, 3000);
    leader.store.script = undefined;
    await pass(nodes, owners, CRASH, () => sizesOf(owners).join() === '4,4');
    expect(owners.flatMap(({ of }) => of('record-unreadable'))).toEqual([]);
  });
});
