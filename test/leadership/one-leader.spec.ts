import { UnknownScopeError } from 'nestjs-gatekeeper';
import { useCluster } from '../support/nodes.js';
import {
  GRACE,
  LEASE,
  TOLERANCE,
  candidate,
  candidates,
  cutOff,
  heard,
  instanceOf,
  leadersOf,
  leads,
  reconnect,
  scopeOf,
  untilLed,
} from './candidates.js';

const newCluster = useCluster();

describe('one scope', () => {
  it('has one leader, and every node knows it', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    await cluster.time.advance(LEASE);
    expect(leadersOf(nodes)).toEqual([nodes[0]]);
    const leader = instanceOf(nodes[0]!);
    for (const { gatekeeper } of nodes) {
      const { current, participants, ...status } = gatekeeper.cluster.status();
      expect(current).toBe(gatekeeper.node.instance);
      expect(status).toEqual({ leader });
      expect(participants.toSorted()).toEqual(nodes.map(instanceOf).toSorted());
    }
  });

  it('has the same leader while it lives', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const log = heard(nodes[0]!);
    await cluster.time.advance(10 * LEASE);
    expect(leadersOf(nodes)).toEqual([nodes[0]]);
    expect(log).toEqual([]);
  });

  it('gets another leader after a crash, within lease, tolerance and a second', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    cutOff(nodes[0]!);
    const survivors = nodes.slice(1);
    // The crashed node itself must have stopped to claim before another one leads.
    await cluster.time.advance(LEASE - TOLERANCE - 1000);
    await cluster.time.advance(1);
    while (leads(nodes[0]!)) {
      expect(leadersOf(survivors)).toEqual([]);
      await cluster.time.advance(20);
    }
    await untilLed(cluster, survivors, 2 * TOLERANCE + 1000 + 1000);
    expect(leadersOf(nodes)).toHaveLength(1);
  });

  it('has no leader that slept: it says so before another node leads', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const { term } = scopeOf(nodes[0]!);
    cluster.time.freeze(LEASE - TOLERANCE);
    // No timer has run since, and no other node has asked.
    expect(term!.signal.aborted).toBe(true);
    expect(() => term!.assertHeld()).toThrow(/not held|does not lead/);
    expect(leads(nodes[0]!)).toBe(false);
    expect(leadersOf(nodes)).toEqual([]);
  });

  it('gives each term a higher token', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const first = scopeOf(nodes[0]!).term!.token;
    await scopeOf(nodes[0]!).resign();
    await untilLed(cluster, nodes, 1000);
    expect(scopeOf(nodes[1]!).term!.token).toBeGreaterThan(first);
  });
});

describe('two scopes', () => {
  it('may have two leaders', async () => {
    const cluster = newCluster();
    const leadership = { lease: LEASE, scopes: ['delivery', 'reports'] };
    const one = await candidate(cluster, { leadership });
    const other = await candidate(cluster, { leadership });
    await scopeOf(one, 'reports').resign();
    await cluster.time.advance(1000);
    expect([leads(one), leads(one, 'delivery'), leads(one, 'reports')]).toEqual([true, true, false]);
    expect([leads(other, 'delivery'), leads(other, 'reports')]).toEqual([false, true]);
    expect(one.gatekeeper.cluster.status('reports').leader).toBe(instanceOf(other));
  });

  it('are the only ones: any other name is an error that lists them', async () => {
    const cluster = newCluster();
    const node = await candidate(cluster, { leadership: { scopes: ['delivery', 'reports'] } });
    expect(() => scopeOf(node, 'mail')).toThrow(UnknownScopeError);
    expect(() => scopeOf(node, 'mail')).toThrow('"mail" is no scope of this node: use "delivery" or "reports"');
  });
});

describe('an outage of the store', () => {
  it('that is shorter than the lease ends no term, but no node claims to lead meanwhile', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const [leader] = nodes;
    const { term } = scopeOf(leader!);
    leader!.store.report = { ...leader!.store.health(), connected: false, members: 0 };
    cutOff(leader!);
    expect(leads(leader!)).toBe(false);
    expect(scopeOf(leader!).leader).toBeUndefined();
    await cluster.time.advance(2000);
    leader!.store.report = undefined;
    reconnect(leader!);
    expect(leads(leader!)).toBe(true);
    await cluster.time.advance(2 * LEASE);
    expect(scopeOf(leader!).term).toBe(term);
  });

  it('that is longer than the lease ends the term once, and a node leads again soon after it', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const logs = nodes.map((node) => heard(node));
    const { token } = scopeOf(nodes[0]!).term!;
    for (const node of nodes) cutOff(node);
    await cluster.time.advance(3 * LEASE);
    expect(leadersOf(nodes)).toEqual([]);
    expect(logs).toEqual([[`-${token}`], []]);
    for (const node of nodes) reconnect(node);
    await untilLed(cluster, nodes, 5000);
  });

  it('with too few members counts as one', async () => {
    const cluster = newCluster();
    const [leader] = await candidates(cluster, 1);
    leader!.store.report = { connected: true, members: 1, quorum: 2 };
    expect(leads(leader!)).toBe(false);
  });
});

describe('the loss of all data', () => {
  it('leaves the leader in place: it puts its permit back', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 3);
    const { term } = scopeOf(nodes[0]!);
    cluster.loseAll();
    await cluster.time.advance(3 * LEASE);
    expect(leadersOf(nodes)).toEqual([nodes[0]]);
    expect(scopeOf(nodes[0]!).term).toBe(term);
  });
});

describe('a process that stands still', () => {
  it('leads again after it stood still between the grant and the begin of the term', async () => {
    const cluster = newCluster();
    const node = await cluster.node({ definitions: [], shutdownGrace: GRACE, leadership: { lease: LEASE } });
    const { time } = cluster;
    let stands = () => time.freeze(LEASE + 1000);
    node.gatekeeper.events$.subscribe(({ type }) => {
      if (type !== 'run-started') return;
      stands();
      stands = () => undefined;
    });
    await node.gatekeeper.cluster.initialize();
    await time.advance(10_000);
    expect(leads(node)).toBe(true);
  });
});
