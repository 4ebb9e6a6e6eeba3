import { type StoreDefinition, memory } from 'nestjs-gatekeeper';
import { openOperator } from '../../lib/cli/session/open-operator.js';
import { groupsText } from '../../lib/cli/views/allocation.view.js';
import { allocating, allocatingFrom, storeWithMap, untilOwned } from '../console/allocating.js';
import { until } from '../support/apps.js';
import { TOKENS, useConsoles } from '../console/consoles.js';
import { call } from './command-line.js';
import { useMemoryCluster } from './memory-cluster.js';

describe('allocation on the command line', () => {
  const start = useConsoles();
  const cluster = useMemoryCluster();

  async function started(store?: StoreDefinition) {
    const console = await start({ gatekeeper: allocating('abc'), store });
    const gatekeeper = (...args: string[]) =>
      call([...args, '--url', console.url, '--token', TOKENS.operate], { open: openOperator });
    return { console, gatekeeper };
  }
  async function owned(store?: StoreDefinition) {
    const { console, gatekeeper } = await started(store ?? (await storeWithMap(start)));
    await untilOwned(console, ({ unowned, total, faults }) => total === 3 && unowned + faults.length === 0);
    return { console, gatekeeper };
  }

  it('shows the groups, the nodes of one and its owners', async () => {
    const { gatekeeper } = await owned();
    const groups = await gatekeeper('allocation');
    expect(groups).toMatchObject({ exitCode: 0, err: '' });
    expect(groups.out).toMatch(/^GROUP +RESOURCES +NO OWNER +MOVING +NODES +REMARK\norders +3 +0 +0 +1\n$/);
    const { out } = await gatekeeper('allocation', 'orders');
    expect(out).toMatch(/^3 resources, 0 without an owner, 1 node\n/);
    expect(out).toMatch(/^app1 +3 +1$/m);
    expect(out).toMatch(/^b +app1 +\d+$/m);
  });

  it('shows numbers that are not known as "?", with the reason', () => {
    const groups = [{ name: 'orders', isRecovering: false, faults: ['its map is spoilt'] }];
    expect(groupsText({ groups })).toMatch(/^orders +\? +\? +\? +\? +its map is spoilt$/m);
  });

  it('shows which resources moved, and why', async () => {
    const { gatekeeper, console } = await owned(memory());
    await console.gatekeeper.allocation.group('orders').drain('app1');
    const moves = async (...args: string[]) => (await gatekeeper('allocation', 'orders', 'moves', ...args)).out;
    await until(async () => (await moves()).includes('drained'));
    expect(await moves()).toMatch(/^WHEN +COUNT +RESOURCES +FROM +TO +WHY\n/);
    expect(await moves()).toMatch(/Z +3 +a, b, c +app1 +\(on the way\) +.*drained$/m);
    expect(await moves()).toMatch(/Z +3 +a, b, c +- +app1 +had no owner$/m);
    expect(await moves()).toMatch(/ the owner map was new or lost: nothing was granted until .*$/m);
    expect(await moves('--resource', 'b', '--limit', '1')).toMatch(/^WHEN.*\n.*Z +3 +b, \.\.\. +app1 .*drained\n$/);
    expect(await moves('--node', 'app9')).toBe('no moves\n');
  });

  it('plans the loss of a node', async () => {
    const { gatekeeper } = await owned();
    const { out } = await gatekeeper('allocation', 'orders', 'plan', '--lose', 'app1', '--join', 'app2');
    expect(out).toMatch(/^3 .* app1 .* app2: .+\n/);
    expect(out).toMatch(/^app2 +0 +3$/m);
    expect((await gatekeeper('allocation', 'orders', 'plan')).out).toBe('nothing would move\n');
  });

  it('pins and drains, after a look at what would move', async () => {
    const { gatekeeper, console } = await owned();
    const dry = await gatekeeper('allocation', 'orders', 'drain', 'app1', '--dry-run');
    expect(dry.out).toMatch(/^would drain app1 in orders \(3 .* app1 .*drained\); .+\n$/);
    expect((await gatekeeper('allocation', 'orders', 'pin', 'a', 'app1')).out).toBe('orders: pinned a on app1\n');
    expect((await gatekeeper('allocation', 'orders', 'drain', 'app1', '--reason', 'new disks')).exitCode).toBe(0);
    await untilOwned(console, ({ resources }) =>
      resources.every(({ node, from }: Record<string, string>) => !node && !from),
    );
    const { out } = await gatekeeper('allocation', 'orders');
    expect(out).toMatch(/^a +- +- +NO OWNER; pinned to app1$/m);
    expect((await gatekeeper('allocation', 'orders', 'undrain', 'app1')).out).toBe('orders: drains no more: app1\n');
    expect((await gatekeeper('allocation', 'orders', 'unpin', 'a')).out).toBe('orders: unpinned a\n');
  });

  it('drains a node also while what would move can not be planned', async () => {
    const { allocation, ...rest } = allocating('');
    const resources = () => {
      throw new Error('the database is down');
    };
    const groups = [{ ...allocation!.groups![0]!, resources }];
    const { url } = await start({ gatekeeper: { ...rest, allocation: { groups } } });
    const order = (...args: string[]) =>
      call(['allocation', 'orders', ...args, '--url', url, '--token', TOKENS.operate], { open: openOperator });
    expect((await order('drain', 'app9', '--dry-run')).err).toContain('the database is down');
    expect(await order('drain', 'app9')).toMatchObject({ exitCode: 0, out: 'orders: drains app9\n' });
  });

  it('confirms the set in doubt, and fails if there is none', async () => {
    let letters = 'abc';
    const store = await storeWithMap(start);
    const console = await start({ store, gatekeeper: { acquirer: 'app1', ...allocatingFrom(() => letters) } });
    await untilOwned(console, ({ total, unowned }) => total === 3 && unowned === 0);
    const confirm = (...args: string[]) =>
      call(['allocation', 'orders', 'confirm', ...args, '--url', console.url, '--token', TOKENS.operate], {
        open: openOperator,
      });
    const early = await confirm();
    expect([early.exitCode, early.err]).toEqual([4, 'gatekeeper: orders: no set of resources is in doubt\n']);
    letters = 'a';
    await console.gatekeeper.allocation.group('orders').rebalance();
    await untilOwned(console, ({ doubt }) => doubt !== undefined);
    const dry = await confirm('--dry-run', '--json');
    expect(JSON.parse(dry.out)).toMatchObject({ dryRun: true, action: 'confirm-resources', left: 1, known: 3 });
    expect((await confirm('--dry-run')).out).toMatch(/^would confirm .* app1.* 1 of 3 .*\n$/);
    const { exitCode, out } = await confirm('--reason', 'the shop closed');
    expect([exitCode, out]).toEqual([0, expect.stringMatching(/^orders: confirmed .* 1 of 3 .*\n$/)]);
    await untilOwned(console, ({ total, doubt }) => total === 1 && !doubt);
    const audit = async () =>
      (await call(['audit', '--url', console.url, '--token', TOKENS.operate], { open: openOperator })).out;
    await until(async () => /confirm-resources +allocation:orders .*1 known .*the shop closed/.test(await audit()));
  });

  it('says that an order changed nothing, and fails if there is none to end', async () => {
    const { gatekeeper } = await owned();
    const orders = (...args: string[]) => gatekeeper('allocation', 'orders', ...args);
    expect(JSON.parse((await orders('pin', 'a', 'app1', '--json')).out)).toMatchObject({ action: 'pin', done: true });
    const again = await orders('pin', 'a', 'app1');
    expect([again.exitCode, again.out]).toEqual([0, 'orders: nothing to do, it has this order already: a on app1\n']);
    const undrain = await orders('undrain', 'app-1');
    expect([undrain.exitCode, undrain.err]).toEqual([4, 'gatekeeper: orders: there is no drain of app-1\n']);
    expect((await orders('unpin', 'b')).exitCode).toBe(4);
  });

  it.each([
    [['other'], 3, 'is no allocation group of this node'],
    [['orders', 'pin', 'a'], 2, 'give: allocation <group> pin <resource> <node>'],
    [['orders', 'drain'], 2, 'give: allocation <group> drain <node>'],
    [['orders', 'unpin', 'a', 'app1'], 2, 'give: allocation <group> unpin <resource>'],
    [
      ['orders', 'plan', 'drain', 'app1'],
      2,
      'give: allocation <group> plan, with --lose, --join or --drain <nodes...>',
    ],
    [['orders', 'moves', 'a'], 2, 'give: allocation <group> moves, with --resource <text> or --node <name>'],
    [['orders', 'confirm', '3'], 2, 'give: allocation <group> confirm'],
    [['orders', 'move'], 2, 'Allowed choices are moves, plan, pin, unpin, drain, undrain, confirm'],
  ])('refuses %j', async (args, exitCode, why) => {
    const { gatekeeper } = await started();
    const outcome = await gatekeeper('allocation', ...args);
    expect(outcome).toMatchObject({ exitCode, out: '' });
    expect(outcome.err).toContain(why);
  });

  it('needs a node: the store alone does not know the resources', async () => {
    const { gatekeeper } = cluster();
    const { exitCode, err } = await gatekeeper(['allocation']);
    expect([exitCode, err]).toEqual([
      2,
      'gatekeeper: only a node of the group knows its resources: ask one with --url\n',
    ]);
  });
});
