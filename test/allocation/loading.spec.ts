import { groupSchema } from '../../lib/allocation/group-options.js';
import { groupCode } from '../../lib/allocation/lazy-group.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import { BEGIN, GROUP, LEASE, letters, pass } from './groups.js';

const OPTIONS = groupSchema.parse({ resources: () => letters('abc'), id: String });
const ALL = ['a', 'b', 'c'];

describe('before the code of allocation is loaded, a group', () => {
  const { loaded } = groupCode;
  const newCluster = useCluster();
  let cluster: TestCluster;

  beforeEach(() => {
    cluster = newCluster();
    groupCode.set(undefined);
  });
  afterEach(() => groupCode.set(loaded));

  const aNode = () => cluster.node({ membership: { lease: LEASE } });
  const idsOf = (owned: readonly { readonly id: string }[]) => owned.map(({ id }) => id).toSorted();

  it('owns nothing, and follows what it owns from then on', async () => {
    const { gatekeeper } = await aNode();
    const group = gatekeeper.allocation.add(GROUP, OPTIONS);
    const [seen, told]: [string[][], string[][]] = [[], []];
    const { owned$ } = group;
    owned$.subscribe((owned) => seen.push(idsOf(owned)));
    group.onAllocated((owned) => void told.push(idsOf(owned)));
    expect(groupCode.loaded).toBeUndefined();
    expect([group.owned(), group.owns('a'), group.unowned]).toEqual([[], false, undefined]);
    expect(seen).toEqual([[]]);
    await gatekeeper.allocation.start();
    expect(seen).toEqual([[]]);
    await pass(cluster, [], BEGIN);
    expect([seen.at(-1), told.at(-1), idsOf(group.owned())]).toEqual([ALL, ALL, ALL]);
    const later: string[][] = [];
    owned$.subscribe((owned) => later.push(idsOf(owned)));
    expect(later).toEqual([ALL]);
  });

  it('answers calls when it is loaded', async () => {
    const { gatekeeper } = await aNode();
    const group = gatekeeper.allocation.add(GROUP, OPTIONS);
    expect(await group.run('a', () => 'ran')).toEqual({ executed: false, reason: 'not-owner' });
    expect(await group.pin('a', 'app1')).toBe(true);
    expect(groupCode.loaded).toBeDefined();
  });

  it('that is added to a node that has started begins when it is loaded', async () => {
    const { gatekeeper } = await aNode();
    await gatekeeper.allocation.start();
    expect(groupCode.loaded).toBeUndefined();
    const group = gatekeeper.allocation.add(GROUP, OPTIONS);
    await pass(cluster, [], BEGIN);
    expect(idsOf(group.owned())).toEqual(ALL);
  });

  it('lets a node that waits for its first group begin', async () => {
    const { gatekeeper } = await aNode();
    gatekeeper.allocation.startWithFirst();
    const group = gatekeeper.allocation.add(GROUP, OPTIONS);
    await pass(cluster, [], BEGIN);
    expect(idsOf(group.owned())).toEqual(ALL);
  });

  it('completes what follows it when the node closes, and loads nothing for that', async () => {
    const { gatekeeper } = await aNode();
    const group = gatekeeper.allocation.add(GROUP, OPTIONS);
    let isComplete = false;
    group.owned$.subscribe({ complete: () => (isComplete = true) });
    await cluster.closeOne({ gatekeeper });
    expect([isComplete, groupCode.loaded]).toEqual([true, undefined]);
    expect(await group.run('a', () => 'ran')).toEqual({ executed: false, reason: 'not-owner' });
  });

  it('reports that the code can not be loaded, and tries again at the next call', async () => {
    const node = await aNode();
    await node.gatekeeper.allocation.start();
    const failing = jest.spyOn(groupCode, 'load').mockRejectedValueOnce(new Error('no such file'));
    const group = node.gatekeeper.allocation.add(GROUP, OPTIONS);
    await cluster.time.advance(0);
    failing.mockRestore();
    expect(node.of('problem')).toMatchObject([{ action: 'load the code of allocation' }]);
    await group.pin('a', 'app1');
    await pass(cluster, [], BEGIN);
    expect(idsOf(group.owned())).toEqual(ALL);
  });
});
