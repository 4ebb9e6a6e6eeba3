import { hostname } from 'node:os';
import { START } from '../../support/fake-time.js';
import { HEARTBEAT, LEASE, TOLERANCE, changesAt, kill, namesAt, startMember } from '../../support/members.js';
import { useCluster } from '../../support/nodes.js';
import { allTexts } from '../../../lib/core/store/paging.js';

describe('membership', () => {
  const cluster = useCluster();

  it('lists the participants on every node, by group and name, with what they publish', async () => {
    const nodes = cluster();
    const last = await startMember(nodes, { group: 'z', acquirer: 'app0' });
    const first = await startMember(nodes, {
      group: 'a',
      acquirer: 'app9',
      version: '1.2.3',
      metadata: { address: 'http://10.0.0.9:3000', zones: ['a', 1, null, true] },
    });
    const list = first.gatekeeper.membership.participants();
    expect(list).toEqual([
      {
        ...first.gatekeeper.node,
        id: first.gatekeeper.node.instance,
        host: hostname(),
        version: '1.2.3',
        metadata: { address: 'http://10.0.0.9:3000', zones: ['a', 1, null, true] },
        startedAt: START,
      },
      {
        ...last.gatekeeper.node,
        id: last.gatekeeper.node.instance,
        host: hostname(),
        metadata: {},
        startedAt: START,
      },
    ]);
    expect(last.gatekeeper.membership.participants()).toEqual(list);
  });

  it('notices a join at once, by the hint of the store', async () => {
    const nodes = cluster();
    const one = await startMember(nodes);
    await startMember(nodes);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
    expect(changesAt(one)).toEqual(['member-joined app2']);
  });

  it('notices a join at the next look, without a hint', async () => {
    const nodes = cluster();
    const one = await startMember(nodes);
    one.store.isDeaf = true;
    await startMember(nodes);
    expect(namesAt(one)).toEqual(['app1']);
    await nodes.time.advance(HEARTBEAT);
    expect(namesAt(one)).toEqual(['app1', 'app2']);
  });

  it('notices a clean leave at once', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    await nodes.closeOne(other);
    await nodes.time.advance(0);
    expect(namesAt(one)).toEqual(['app1']);
    expect(changesAt(one)).toEqual(['member-joined app2', 'member-left app2']);
    expect(namesAt(other)).toEqual([]);
    expect(other.gatekeeper.membership.isHeld).toBe(false);
  });

  it('notices a clean leave at the next look, without a hint', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    one.store.isDeaf = true;
    await nodes.closeOne(other);
    await nodes.time.advance(HEARTBEAT);
    expect(changesAt(one)).toEqual(['member-joined app2', 'member-left app2']);
  });

  it('notices a crash within lease + tolerance + 1 s of the last renewal, and no earlier than lease + tolerance', async () => {
    const nodes = cluster();
    const [one, other] = [await startMember(nodes), await startMember(nodes)];
    await nodes.time.advance(30_000);
    kill(other);
    const killedAt = nodes.time.monotonic();
    let noticedAt = 0;
    one.gatekeeper.events$.subscribe(({ type }) => {
      if (type === 'member-crashed') noticedAt = nodes.time.monotonic();
    });
    await nodes.time.advance(20_000);
    expect(namesAt(one)).toEqual(['app1']);
    expect(changesAt(one)).toEqual(['member-joined app2', 'member-crashed app2']);
    expect(noticedAt - killedAt).toBeLessThanOrEqual(LEASE + TOLERANCE + 1000);
    expect(noticedAt - killedAt).toBeGreaterThanOrEqual(LEASE + TOLERANCE - HEARTBEAT);
    expect(one.log.filter((line) => line.startsWith('warn'))).toEqual([
      expect.stringMatching(/^warn node "app2" \(group "default", host ".*"\) crashed or is cut off/),
    ]);
  });

  it('keeps living nodes for as long as they live', async () => {
    const nodes = cluster();
    const all = [await startMember(nodes), await startMember(nodes), await startMember(nodes)];
    await nodes.time.advance(10 * 60_000);
    for (const node of all) {
      expect(namesAt(node)).toEqual(['app1', 'app2', 'app3']);
      expect(node.gatekeeper.membership.isHeld).toBe(true);
      expect(node.events.filter(({ type }) => type === 'membership-lost' || type === 'member-crashed')).toEqual([]);
    }
  });

  it('streams the list after each change, replays the last one, and completes', async () => {
    const nodes = cluster();
    const one = nodes.unstarted({ membership: { lease: LEASE } });
    const seen: string[][] = [];
    let isComplete = false;
    one.gatekeeper.membership.participants$.subscribe({
      next: (list) => seen.push(list.map(({ acquirer }) => acquirer)),
      complete: () => (isComplete = true),
    });
    expect(seen).toEqual([]);
    await nodes.bear();
    await one.gatekeeper.start();
    await nodes.time.advance(0);
    expect(seen).toEqual([['app1']]);
    const other = await startMember(nodes);
    await nodes.time.advance(60_000);
    const late: string[][] = [];
    one.gatekeeper.membership.participants$.subscribe((list) => late.push(list.map(({ acquirer }) => acquirer)));
    expect(late).toEqual([['app1', 'app2']]);
    await nodes.closeOne(other);
    await nodes.time.advance(0);
    expect(seen).toEqual([['app1'], ['app1', 'app2'], ['app1']]);
    await one.gatekeeper.close();
    expect(isComplete).toBe(true);
  });

  it('costs nothing without the option', async () => {
    const nodes = cluster();
    const [one] = [await nodes.node(), await startMember(nodes)];
    const calls = { ...one.store.calls };
    await nodes.time.advance(5000);
    expect(one.store.calls).toEqual(calls);
    expect(namesAt(one)).toEqual([]);
    expect(one.gatekeeper.membership.isHeld).toBe(false);
    expect([...(await allTexts(nodes.raw.records, 'members:')).values()].join()).not.toContain(
      one.gatekeeper.node.instance,
    );
  });

  it('costs one write and one read per heartbeat', async () => {
    const nodes = cluster();
    const [one] = [
      await startMember(nodes, { sweepInterval: '1h' }),
      await startMember(nodes),
      await startMember(nodes),
    ];
    await nodes.time.advance(1000);
    const { compareAndSet, read, readMany } = one.store.calls;
    await nodes.time.advance(60_000);
    const writes = one.store.calls.compareAndSet - compareAndSet;
    expect(writes).toBeGreaterThanOrEqual(16);
    expect(writes).toBeLessThanOrEqual(20);
    expect(one.store.calls.readMany - readMany).toBe(writes);
    expect(one.store.calls.read - read).toBe(0);
  });
});
