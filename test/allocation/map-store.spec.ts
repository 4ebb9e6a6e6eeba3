import { UnknownOutcomeError } from 'nestjs-gatekeeper';
import { MapStore } from '../../lib/allocation/map-store.js';
import { pageKey } from '../../lib/allocation/map/page.js';
import type { AllocationRoot } from '../../lib/allocation/map/root.js';
import { pagesToPutBack } from '../../lib/allocation/round/owner-map.js';
import type { CommitRound } from '../../lib/allocation/round/round.js';
import { partsOf } from '../../lib/gatekeeper/index.js';
import { type TestCluster, useCluster } from '../support/nodes.js';
import { aPage, aRegistry, aRoot, anEntry } from './maps.js';

const SLOT = 'allocation:page:queues/0';

const aRound = (root: AllocationRoot, key: string, letters: string): CommitRound => ({
  kind: 'commit',
  why: 'changed',
  root: { ...root, members: new Map([['a#0', [key]]]) },
  owned: new Map([[key, aPage(letters)]]),
  limbo: new Map(),
  revoked: [],
  granted: [],
});

/** The owner map as a node has it. */
async function mapOn(nodes: TestCluster): Promise<MapStore> {
  const { gatekeeper } = await nodes.node();
  return new MapStore('queues', partsOf(gatekeeper).context, () => {});
}

describe('an owner map in the store', () => {
  const cluster = useCluster();

  it('keeps its pages when a former leader commits a round that was decided on an older root', async () => {
    const nodes = cluster();
    const [leader, former] = [await mapOn(nodes), await mapOn(nodes)];
    const expected = await former.readRoot();
    const now = aRoot({ nonce: 'now', seq: 1 });
    expect(await leader.commit(await leader.readRoot(), aRound(now, pageKey(0, 'now'), 'abc'))).toBe(true);
    const page = await nodes.raw.records.read(SLOT);
    const late = aRoot({ nonce: 'late', seq: 1 });
    expect(await former.commit(expected, aRound(late, pageKey(0, 'late'), 'xyz'))).toBe(false);
    expect(await nodes.raw.records.read(SLOT)).toBe(page);
    expect((await leader.readRoot()).root!.nonce).toBe('now');
  });

  it('gets a page back that the store lost', async () => {
    const nodes = cluster();
    const map = await mapOn(nodes);
    const key = pageKey(0, 'now');
    await map.commit(await map.readRoot(), aRound(aRoot(), key, 'abc'));
    const page = await nodes.raw.records.read(SLOT);
    nodes.lose(SLOT);
    await map.putBack(map.last, pagesToPutBack(map.last.root!, aRegistry([anEntry('a#0', { missing: key })]), map));
    expect(await nodes.raw.records.read(SLOT)).toBe(page);
  });

  it('does not get a page back when a later root may use its slot', async () => {
    const nodes = cluster();
    const [former, leader] = [await mapOn(nodes), await mapOn(nodes)];
    const older = pageKey(0, 'older');
    await former.commit(await former.readRoot(), aRound(aRoot({ nonce: 'older', seq: 1 }), older, 'abc'));
    const stale = former.last;
    const empty = { ...aRound(aRoot({ nonce: 'empty', seq: 2 }), older, ''), owned: new Map() };
    await leader.commit(await leader.readRoot(), { ...empty, root: aRoot({ nonce: 'empty', seq: 2 }) });
    await leader.commit(leader.last, aRound(aRoot({ nonce: 'now', seq: 3 }), pageKey(0, 'now'), 'xyz'));
    const page = await nodes.raw.records.read(SLOT);
    await former.putBack(stale, new Map([[older, aPage('abc')]]));
    expect(await nodes.raw.records.read(SLOT)).toBe(page);
  });

  it('that may have been written, and be lost again, counts as seen by others', async () => {
    const nodes = cluster();
    const unknown: string[] = [];
    const node = await nodes.node();
    const map = new MapStore('queues', partsOf(node.gatekeeper).context, (root) => void unknown.push(root.nonce));
    const expected = await map.readRoot();
    node.store.script = async (call, go) => {
      if (call === 'compareAndSet') throw new UnknownOutcomeError('no answer');
      return go();
    };
    const round = { ...aRound(aRoot({ nonce: 'maybe', seq: 1 }), pageKey(0, 'maybe'), ''), owned: new Map() };
    expect(await map.commit(expected, round)).toBe(false);
    expect(unknown).toEqual(['maybe']);
  });

  describe('that another node wrote', () => {
    const start = async () => {
      const nodes = cluster();
      const leader = await mapOn(nodes);
      await leader.commit(await leader.readRoot(), aRound(aRoot({ nonce: 'now', seq: 1 }), pageKey(0, 'now'), 'abc'));
      const { gatekeeper, store } = await nodes.node();
      const map = new MapStore('queues', partsOf(gatekeeper).context, () => {});
      const root = (await map.readRoot()).root!;
      const writes = store.calls.compareAndSet;
      return { nodes, leader, map, root, store, written: () => store.calls.compareAndSet - writes };
    };

    it('is confirmed by one write, which does not change it', async () => {
      const { nodes, leader, map, root, written } = await start();
      const { text } = map.last;
      expect([await map.confirm(root), await map.confirm(root)]).toEqual([true, true]);
      expect(written()).toBe(1);
      expect(await nodes.raw.records.read(leader.rootKey)).toBe(text);
    });

    it('is not confirmed by a write without an answer, but by the next one', async () => {
      const { map, root, store, written } = await start();
      store.script = async (_, go) => {
        await go();
        throw new UnknownOutcomeError('no answer');
      };
      expect(await map.confirm(root)).toBe(false);
      store.script = undefined;
      expect(await map.confirm(root)).toBe(true);
      expect(written()).toBe(2);
    });

    it('is not confirmed once there is another one, or once another one was read', async () => {
      const { leader, map, root } = await start();
      const next = aRound(aRoot({ nonce: 'next', seq: 2 }), pageKey(1, 'next'), 'ab');
      await leader.commit(leader.last, next);
      expect(await map.confirm(root)).toBe(false);
      await map.readRoot();
      expect(await map.confirm(root)).toBe(false);
    });

    it('need not be confirmed by its own writer', async () => {
      const { nodes, leader, root } = await start();
      await nodes.raw.records.compareAndSet(leader.rootKey, leader.last.text, 'another text');
      expect(await leader.confirm(root)).toBe(true);
    });
  });

  it('does not get a page back that a node missed by an older root: its slot is in use', () => {
    const [older, now] = [pageKey(0, 'older'), pageKey(0, 'now')];
    const pages = { owned: new Map([older, now].map((key) => [key, aPage('abc')])), limbo: new Map() };
    const root = aRoot({ members: new Map([['a#0', [now]]]) });
    const missing = (key: string) => aRegistry([anEntry('a#0', { missing: key })]);
    expect([...pagesToPutBack(root, missing(older), pages).keys()]).toEqual([]);
    expect([...pagesToPutBack(root, missing(now), pages).keys()]).toEqual([now]);
  });
});
