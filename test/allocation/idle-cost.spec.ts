import { type TestCluster, useCluster } from '../support/nodes.js';
import { BEGIN, LEASE, type Owner, letters, pass } from './groups.js';

/** Pages of the membership. */
const PAGES = 8;
/** Keys of the leadership, and calls that other parts make at rest. */
const OTHERS = 10;

describe('what groups cost while nothing changes', () => {
  const cluster = useCluster();

  /** Nodes with so many groups, each divided, whose resources are read often. */
  async function startWith(nodes: TestCluster, groups: number, resources: () => string[]): Promise<Owner[]> {
    const definitions = Array.from({ length: groups }, (_, at) => ({
      name: `group-${at}`,
      resources,
      id: (item: string) => item,
      refreshInterval: 1000,
    }));
    const options = { membership: { lease: LEASE }, allocation: { groups: definitions } };
    const owners: Owner[] = [];
    for (let each = 0; each < 2; each++) {
      const node = await nodes.node(options);
      await node.gatekeeper.allocation.start();
      owners.push({ ...node, group: node.gatekeeper.allocation.group('group-0'), told: [] });
    }
    const total = () =>
      owners.reduce(
        (sum, { gatekeeper }) => sum + gatekeeper.allocation.groups.reduce((of, group) => of + group.owned().length, 0),
        0,
      );
    await pass(nodes, owners, 2 * BEGIN, () => total() === groups * resources().length);
    await pass(nodes, owners, 2 * LEASE);
    return owners;
  }

  /** Keys that a node reads in one heartbeat, on the average of all nodes. */
  async function keysRead(nodes: TestCluster, owners: readonly Owner[]): Promise<number> {
    let keys = 0;
    for (const { store } of owners) {
      store.script = async (call, go, key) => {
        if (call === 'read') keys++;
        if (call === 'readMany') keys += key!.split(',').length;
        return go();
      };
    }
    const beats = 12;
    await nodes.time.advance((beats * LEASE) / 3);
    return keys / beats / owners.length;
  }

  it.each([5, 20])('is two keys of each of %i groups in a heartbeat', async (groups) => {
    const nodes = cluster();
    const owners = await startWith(nodes, groups, () => letters('abcdef'));
    expect(await keysRead(nodes, owners)).toBeLessThan(2 * groups + PAGES + OTHERS);
  });

  it('is the same while their resources can not be read', async () => {
    const nodes = cluster();
    let isDown = false;
    const owners = await startWith(nodes, 20, () => {
      if (isDown) throw new Error('the database is down');
      return letters('abcdef');
    });
    isDown = true;
    await nodes.time.advance(5000);
    expect(await keysRead(nodes, owners)).toBeLessThan(2 * 20 + PAGES + OTHERS);
  });

  it('is, for a change in one group, that group and no other', async () => {
    const nodes = cluster();
    const owners = await startWith(nodes, 20, () => letters('abcdef'));
    const [one, other] = owners;
    const heartbeat = 2 * 20 + PAGES + OTHERS;
    const orders = 10;
    let [isOn, keys] = [true, 0];
    other!.store.script = async (call, go, key) => {
      if (isOn && call === 'readMany') keys += key!.split(',').length;
      return go();
    };
    for (let pinned = 0; pinned < orders; pinned++) {
      const pin = one!.group.pin(`resource-${pinned}`, 'no-node');
      await nodes.time.advance(50);
      await pin;
    }
    isOn = false;
    expect(keys).toBeLessThan(heartbeat + orders * 30);
  });
});
