import { groupSchema } from '../../lib/allocation/group-options.js';
import { MapStore } from '../../lib/allocation/map-store.js';
import { pageKey } from '../../lib/allocation/map/page.js';
import { Delivery } from '../../lib/allocation/node/delivery.js';
import { NodeShare } from '../../lib/allocation/node/node-share.js';
import { OwnerWork } from '../../lib/allocation/node/owner-work.js';
import { partsOf } from '../../lib/gatekeeper/index.js';
import { type TestCluster, openEnd, useCluster } from '../support/nodes.js';
import { BEGIN, CRASH, pass, sharesOf, sizesOf, startOwner, startOwners } from './groups.js';
import { aPage, aRoot } from './maps.js';

describe('a node that closes while it works on its resources', () => {
  const cluster = useCluster();

  it('aborts the work, and gives the resources back when the work has ended', async () => {
    const nodes = cluster();
    const [one, other] = await startOwners(nodes, 2);
    const { id } = other!.group.owned()[0]!;
    const { work, end } = openEnd();
    let signal: AbortSignal | undefined;
    const run = other!.group.run(id, (ownership) => {
      signal = ownership.signal;
      return work();
    });
    const closed = other!.gatekeeper.close();
    await pass(nodes, [one!, other!], 1000);
    expect(signal!.aborted).toBe(true);
    expect(one!.group.owns(id)).toBe(false);
    end();
    await pass(nodes, [one!, other!], 1000, () => sizesOf([one!]).join() === '6');
    await Promise.all([run, closed]);
  });

  it.each([
    ['while it closes', 1000],
    ['after it has closed', 0],
  ])('takes no part in a group that is added %s', async (_, worksFor) => {
    const nodes = cluster();
    const onAllocated = () => new Promise<void>((resolve) => nodes.time.schedule(resolve, worksFor));
    const one = await startOwner(nodes, { onAllocated });
    await pass(nodes, [one], BEGIN, () => sizesOf([one]).join() === '6');
    const closed = one.gatekeeper.close();
    await (worksFor > 0 ? nodes.time.advance(100) : nodes.time.advance(CRASH));
    let calls = 0;
    const resources = () => [`${++calls}`];
    const late = one.gatekeeper.allocation.add('late', groupSchema.parse({ resources, id: String }));
    let isComplete = false;
    late.owned$.subscribe({ complete: () => (isComplete = true) });
    await nodes.time.advance(60_000);
    await closed;
    expect({ calls, isComplete, owned: late.owned() }).toEqual({ calls: 0, isComplete: true, owned: [] });
  });

  it('owns nothing from then on, and starts no work', async () => {
    const nodes = cluster();
    const owners = await startOwners(nodes, 2, { onAllocated: () => new Promise(() => undefined) });
    const [one, other] = owners;
    const { id } = other!.group.owned()[0]!;
    const seen: number[] = [];
    other!.group.owned$.subscribe((owned) => seen.push(owned.length));
    const closed = other!.gatekeeper.close();
    expect(seen).toEqual([3, 0]);
    expect(sharesOf([other!])).toBe('');
    expect(other!.group.owns(id)).toBe(false);
    expect(await other!.group.run(id, () => 'ran')).toEqual({ executed: false, reason: 'not-owner' });
    await pass(nodes, [one!, other!], BEGIN + 2 * CRASH, () => sizesOf([one!]).join() === '6');
    await closed;
  });
});

const KEY = pageKey(0, 'page');

/** A function that makes deliveries, each for a node that owns a, b and c. */
async function preparedDeliveries(nodes: TestCluster) {
  const { context } = partsOf((await nodes.node()).gatekeeper);
  const map = new MapStore('queues', context, () => {});
  const root = aRoot({ seq: 1, members: new Map([['a#0', [KEY]]]) });
  const owned = new Map([[KEY, aPage('abc')]]);
  const nothing = { limbo: new Map(), revoked: [], granted: [] };
  await map.commit(await map.readRoot(), { kind: 'commit', why: 'changed', root, owned, ...nothing });
  return async (resourceOf: (id: string) => unknown = (id) => id) => {
    const share = new NodeShare(
      map,
      { incarnation: 'a#0' },
      context,
      (id) => id,
      () => {},
    );
    await share.take((await map.readRoot()).root!);
    return new Delivery({
      group: 'queues',
      share,
      work: new OwnerWork('queues', share),
      context,
      timeout: 1000,
      resourceOf,
      readResources: async () => undefined,
      onGivenBack: () => {},
    });
  };
}

describe('a node that closes as onAllocated ends', () => {
  const cluster = useCluster();

  it('takes its resources from the application, at whatever moment it closes', async () => {
    const nodes = cluster();
    const newDelivery = await preparedDeliveries(nodes);
    for (let moment = 0; moment < 40; moment++) {
      const delivery = await newDelivery();
      const told: number[] = [];
      let closed: Promise<void> | undefined;
      const closeLater = async () => {
        for (let turn = 0; turn < moment; turn++) await undefined;
        closed = delivery.close();
      };
      delivery.on((owned) => {
        told.push(owned.length);
        if (told.length === 1) void closeLater();
      });
      await nodes.time.advance(0);
      await closed;
      expect({ moment, told }).toEqual({ moment, told: [3, 0] });
    }
  });

  it('hears of no change after that, whatever is lost then', async () => {
    const nodes = cluster();
    const delivery = await (await preparedDeliveries(nodes))();
    const told: number[] = [];
    delivery.on((owned) => void told.push(owned.length));
    await nodes.time.advance(0);
    await delivery.close();
    delivery.notify();
    delivery.notify();
    await nodes.time.advance(5000);
    await delivery.close();
    expect(told).toEqual([3, 0]);
  });

  it('can close although it failed before', async () => {
    let fault: Error | undefined = new Error('a fault');
    const newDelivery = await preparedDeliveries(cluster());
    const delivery = await newDelivery((id) => {
      if (fault) throw fault;
      return id;
    });
    delivery.on(() => undefined);
    await expect(delivery.close()).rejects.toThrow('a fault');
    fault = undefined;
    await delivery.close();
  });
});
