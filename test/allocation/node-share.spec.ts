import { StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { MapStore } from '../../lib/allocation/map-store.js';
import { pageKey } from '../../lib/allocation/map/page.js';
import type { AllocationRoot } from '../../lib/allocation/map/root.js';
import { NodeShare } from '../../lib/allocation/node/node-share.js';
import type { CommitRound } from '../../lib/allocation/round/round.js';
import { partsOf } from '../../lib/gatekeeper/index.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import { aPage, aRoot } from './maps.js';

const KEY = pageKey(0, 'page');

const aRound = (root: Partial<AllocationRoot>): CommitRound => ({
  kind: 'commit',
  why: 'changed',
  root: aRoot({ members: new Map([['a#0', [KEY]]]), ...root }),
  owned: root.seq === 1 ? new Map([[KEY, aPage('abc')]]) : new Map(),
  limbo: new Map(),
  revoked: [],
  granted: [],
});

/** A node that leads, and one that follows the owner map. */
async function start(nodes: TestCluster) {
  const mapOn = async () => {
    const { gatekeeper, store } = await nodes.node();
    const { context } = partsOf(gatekeeper);
    return { store, context, map: new MapStore('queues', context, () => {}) };
  };
  const [leader, { map, context, store }] = [await mapOn(), await mapOn()];
  const share = new NodeShare(
    map,
    { incarnation: 'a#0' },
    context,
    () => undefined,
    () => {},
  );
  const commit = async (root: Partial<AllocationRoot>) => leader.map.commit(await leader.map.readRoot(), aRound(root));
  const take = async () => share.take((await map.readRoot()).root!);
  return { share, store, commit, take, rootKey: map.rootKey };
}

describe("a node's share", () => {
  const cluster = useCluster();

  it.each([
    ['refuses', new StoreUnavailableError('no')],
    ['does not answer', new UnknownOutcomeError('no')],
  ])('begins only when the root is confirmed, and looks again soon if the store %s', async (_, error) => {
    const { share, store, commit, take } = await start(cluster());
    await commit({ nonce: 'one', seq: 1 });
    store.script = (call, go) => (call === 'compareAndSet' ? Promise.reject(error) : go());
    const failure = await take().catch((thrown: unknown) => thrown);
    expect([error, false]).toContain(failure);
    expect([share.owned.size, share.isMoving]).toEqual([0, true]);
    store.script = undefined;
    expect(await take()).toBe(true);
    expect([share.owned.size, share.isMoving]).toEqual([3, false]);
  });

  it('forgets a root that got lost when another one of the same number is confirmed', async () => {
    const nodes = cluster();
    const { share, commit, take, rootKey } = await start(nodes);
    await commit({ nonce: 'one', seq: 1 });
    await take();
    const before = (await nodes.raw.records.read(rootKey))!;
    await commit({ nonce: 'lost', seq: 2, limbo: ['7/lost'] });
    const lost = (await nodes.raw.records.read(rootKey))!;
    share.note(aRoot({ nonce: 'lost', seq: 2, limbo: ['7/lost'] }));
    expect(share.isMoving).toBe(true);
    await nodes.raw.records.compareAndSet(rootKey, lost, before);
    await commit({ nonce: 'two', seq: 2 });
    await take();
    expect([share.newest!.nonce, share.isMoving]).toEqual(['two', false]);
  });
});
