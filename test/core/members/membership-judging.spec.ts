import type { ClockReading } from 'nestjs-gatekeeper';
import {
  HEARTBEAT,
  LEASE,
  TOLERANCE,
  changesAt,
  incOf,
  kill,
  namesAt,
  overwrite,
  pageOf,
  pagesIn,
  startMember,
} from '../../support/members.js';
import { useCluster } from '../../support/nodes.js';
import type { ScriptedStore } from '../../support/scripted-store.js';

/** Members' clocks as a node reads them are wrong by this from now on, in ms. */
function shiftClock({ store }: { store: ScriptedStore }, by: number): void {
  store.script = async (call, go) => {
    const answer = await go();
    return call === 'now' ? { ...(answer as ClockReading), time: (answer as ClockReading).time + by } : answer;
  };
}

describe('the other participants', () => {
  const cluster = useCluster();

  it('are not judged by a node that has no answer from the store, nor in the first moment after that', async () => {
    const nodes = cluster();
    const all = [await startMember(nodes), await startMember(nodes), await startMember(nodes)];
    for (const { store } of all) store.script = () => new Promise(() => undefined);
    await nodes.time.advance(5 * 60_000);
    expect(all.map(namesAt)).toEqual([
      ['app2', 'app3'],
      ['app1', 'app3'],
      ['app1', 'app2'],
    ]);
    for (const { store } of all) store.script = undefined;
    await nodes.time.advance(2 * HEARTBEAT + 4000);
    for (const node of all) {
      expect(namesAt(node)).toEqual(['app1', 'app2', 'app3']);
      expect(changesAt(node).filter((change) => change.startsWith('member-crashed'))).toEqual([]);
      expect(node.of('membership-lost')).toHaveLength(1);
    }
  });

  it('are still judged after an outage: a node that died meanwhile is noticed', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    for (const { store } of [one, other]) store.script = () => new Promise(() => undefined);
    await nodes.time.advance(60_000);
    one.store.script = undefined;
    await nodes.time.advance(2 * HEARTBEAT + 4000);
    expect(namesAt(one)).toEqual(['app1']);
  });

  it('do not hear of a node that was dead for long before they began', async () => {
    const nodes = cluster();
    const dead = await startMember(nodes);
    kill(dead);
    await nodes.time.advance(60_000);
    const fresh = await startMember(nodes);
    const lists: number[] = [];
    fresh.gatekeeper.membership.participants$.subscribe((list) => lists.push(list.length));
    expect(namesAt(fresh)).toEqual(['app2']);
    expect(lists).toEqual([1]);
    expect(changesAt(fresh)).toEqual([]);
  });

  it('vanish from the store when they died: nothing grows with restarts', async () => {
    const nodes = cluster();
    const survivors = [];
    for (let start = 0; start < 20; start++) survivors.push(await startMember(nodes));
    for (let start = 0; start < 60; start++) kill(await startMember(nodes));
    await nodes.time.advance(4 * LEASE);
    const entries = [...(await pagesIn(nodes)).values()].flatMap((page) => page.entries);
    const used = new Set(await Promise.all(survivors.map((node) => pageOf(nodes, node))));
    const ofUsed = [...(await pagesIn(nodes))].filter(([key]) => used.has(key)).flatMap(([, page]) => page.entries);
    expect(ofUsed).toHaveLength(20);
    expect(entries.length).toBeLessThanOrEqual(80);
  });

  it('keep believing in a node whose page was lost, and it comes back with its incarnation', async () => {
    const nodes = cluster();
    const all = [await startMember(nodes), await startMember(nodes), await startMember(nodes)];
    await nodes.time.advance(LEASE);
    const incs = await Promise.all(all.map((node) => incOf(nodes, node)));
    nodes.loseAll();
    await nodes.bear();
    await nodes.time.advance(2 * LEASE);
    expect(await Promise.all(all.map((node) => incOf(nodes, node)))).toEqual(incs);
    for (const node of all) {
      expect(namesAt(node)).toEqual(['app1', 'app2', 'app3']);
      expect(node.gatekeeper.membership.isHeld).toBe(true);
    }
    expect(changesAt(all[0]!)).toEqual(['member-joined app2', 'member-joined app3']);
    expect(changesAt(all[2]!)).toEqual([]);
    const restored = all.flatMap(({ events }) => events.flatMap((event) => (event.type === 'restored' ? [event] : [])));
    expect(restored.filter(({ semaphore }) => semaphore.startsWith('members:'))).not.toEqual([]);
  });

  it('keep believing until the end of the lease in a node that a restored page lacks', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    const key = await pageOf(nodes, other);
    const page = (await pagesIn(nodes)).get(key)!;
    kill(other);
    const entries = page.entries.filter(({ instance }) => instance !== other.gatekeeper.node.instance);
    await overwrite(
      nodes,
      key,
      JSON.stringify({ ...page, nonce: 'another', born: 'restored', seq: page.seq + 5, entries }),
    );
    await nodes.time.advance(2 * LEASE);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
    await nodes.time.advance(HEARTBEAT + 2 * TOLERANCE + 1000);
    expect(changesAt(one)).toEqual(['member-joined app2', 'member-crashed app2']);
  });

  it.each([
    ['ahead', 100_000],
    ['back', -100_000],
  ])('stay when the clocks of all members jump %s, and a crash is still noticed', async (_, by) => {
    const nodes = cluster();
    const all = [await startMember(nodes), await startMember(nodes), await startMember(nodes)];
    await nodes.time.advance(30_000);
    for (const node of all) shiftClock(node, by);
    await nodes.time.advance(120_000);
    for (const node of all) {
      expect(namesAt(node)).toEqual(['app1', 'app2', 'app3']);
      expect(changesAt(node).filter((change) => !change.startsWith('member-joined'))).toEqual([]);
    }
    kill(all[2]!);
    await nodes.time.advance(LEASE + TOLERANCE + HEARTBEAT + 1000);
    expect(namesAt(all[0]!)).toEqual(['app1', 'app2']);
  });

  it('are noticed to have crashed although the clocks jumped ahead right after their last renewal', async () => {
    const nodes = cluster();
    const all = [await startMember(nodes), await startMember(nodes), await startMember(nodes)];
    await nodes.time.advance(30_000);
    kill(all[2]!);
    for (const node of all.slice(0, 2)) shiftClock(node, 100_000);
    await nodes.time.advance(LEASE - HEARTBEAT);
    expect(namesAt(all[0]!)).toEqual(['app1', 'app2', 'app3']);
    await nodes.time.advance(TOLERANCE + 2 * HEARTBEAT + 1000);
    expect(namesAt(all[0]!)).toEqual(['app1', 'app2']);
  });

  it.each([
    ['no JSON', '}{', 'corrupt-record'],
    ['another format', '{"v":1,"entries":[{"instance":7}]}', 'corrupt-record'],
    ['a newer version', '{"v":2}', 'newer-record'],
    ['too long', `{"v":1,"nonce":"${'x'.repeat(600_000)}"}`, 'corrupt-record'],
  ])('of a page with %s are not forgotten: the fault is reported, and they use another page', async (_, text, code) => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    const key = await pageOf(nodes, other);
    await overwrite(nodes, key, text);
    await nodes.time.advance(2 * HEARTBEAT + 1000);
    expect(one.of('record-unreadable')).toMatchObject([{ semaphore: key, error: { code } }]);
    expect(one.log.filter((line) => line.startsWith('error'))).toEqual([expect.stringContaining(key.slice(8))]);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
    expect(namesAt(other)).toEqual(['app1', 'app2']);
    expect(await nodes.raw.records.read(key)).toBe(text);
    kill(other);
    await nodes.time.advance(LEASE + TOLERANCE + HEARTBEAT + 1000);
    expect(namesAt(one)).toEqual(['app1']);
  });

  it('that died with their page unreadable are noticed by the own observation of their lease', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    const key = await pageOf(nodes, other);
    kill(other);
    await overwrite(nodes, key, '}{');
    await nodes.time.advance(2 * LEASE);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
    await nodes.time.advance(2 * TOLERANCE + HEARTBEAT + 1000);
    expect(changesAt(one)).toContain('member-crashed app2');
  });

  it('publish more than this version knows, and that stays', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    const key = await pageOf(nodes, other);
    const page = (await pagesIn(nodes)).get(key)!;
    const later = { instance: 'later', inc: 'i', beat: 1, expiresAt: nodes.time.cluster() + LEASE, duration: LEASE };
    const who = { group: 'z', acquirer: 'later', host: 'h', metadata: {}, startedAt: 1, data: { acked: 7 } };
    const entries = [...page.entries, { ...later, ...who }];
    const text = JSON.stringify({ ...page, nonce: 'another', seq: page.seq + 1, entries, later: 1 });
    await overwrite(nodes, key, text);
    await nodes.time.advance(HEARTBEAT);
    expect(namesAt(one)).toEqual(['app1', 'app2', 'later']);
    const kept = (await pagesIn(nodes)).get(key)!;
    expect(kept.seq).toBeGreaterThan(page.seq + 1);
    expect(kept).toMatchObject({ later: 1 });
    expect(kept.entries.find(({ instance }) => instance === 'later')).toEqual({ ...later, ...who });
    expect(one.of('clock-suspect')).toEqual([]);
  });
});
