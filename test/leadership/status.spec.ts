import type { ClusterStatus } from 'nestjs-gatekeeper';
import { partsOf } from '../../lib/gatekeeper/parts.js';
import { scopeStatus } from '../../lib/operate/insight/index.js';
import { type TestNode, useCluster } from '../support/nodes.js';
import {
  LEASE,
  TOLERANCE,
  candidate,
  candidates,
  cutOff,
  definitionsOf,
  instanceOf,
  reconnect,
  scopeOf,
} from './candidates.js';

const newCluster = useCluster();
const NAME = 'leader:default';
const statusOf = (node: TestNode) => scopeStatus(scopeOf(node), false);

describe('the status of a scope', () => {
  it('names leader, term and its start, and why a node does not lead', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const { token, since } = scopeOf(nodes[0]!).term!;
    const leader = nodes[0]!.gatekeeper.node;
    expect(statusOf(nodes[0]!)).toEqual({ scope: 'default', isLeader: true, leader, term: token, since });
    expect(statusOf(nodes[1]!)).toEqual({
      scope: 'default',
      isLeader: false,
      leader,
      term: token,
      since,
      reason: 'no-permit',
      sentence: 'app1 leads',
    });
  });

  it('says that the scope is paused, that patterns exclude the node, or that it just resigned', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    await scopeOf(nodes[0]!).resign();
    expect(statusOf(nodes[0]!)).toMatchObject({
      reason: 'resigned',
      sentence: expect.stringContaining('a moment ago'),
    });
    await cluster.time.advance(7000);
    await definitionsOf(nodes[1]!).pause(NAME);
    await cluster.time.advance(6000);
    expect(statusOf(nodes[0]!)).toEqual({
      scope: 'default',
      isLeader: false,
      reason: 'paused',
      sentence: `an operator has paused semaphore "${NAME}"`,
    });
    await definitionsOf(nodes[1]!).resume(NAME);
    await definitionsOf(nodes[1]!).edit(NAME, { groupPattern: 'eu' });
    await cluster.time.advance(6000);
    expect(statusOf(nodes[0]!)).toMatchObject({ reason: 'group' });
  });

  it('says that the node is disconnected, or does not take part', async () => {
    const cluster = newCluster();
    const [node] = await candidates(cluster, 1);
    node!.store.report = { connected: false, members: 0, quorum: 0 };
    expect(statusOf(node!)).toMatchObject({ isLeader: false, reason: 'unavailable' });
    const idle = await cluster.node();
    expect(statusOf(idle)).toMatchObject({
      reason: 'not-started',
      sentence: 'this node does not take part: set leadership.enabled, or call initialize()',
    });
  });
});

describe('status$', () => {
  it('replays the last status and reports each change of the leader once', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    const seen: ClusterStatus[] = [];
    let isComplete = false;
    nodes[1]!.gatekeeper.cluster.status$.subscribe({
      next: (status) => seen.push(status),
      complete: () => (isComplete = true),
    });
    expect(seen).toEqual([nodes[1]!.gatekeeper.cluster.status()]);
    await cluster.time.advance(2 * LEASE);
    expect(seen).toHaveLength(1);
    await scopeOf(nodes[0]!).resign();
    await cluster.time.advance(1000);
    expect(seen.at(-1)!.leader).toBe(instanceOf(nodes[1]!));
    expect(seen.filter(({ leader }) => leader === instanceOf(nodes[1]!))).toHaveLength(1);
    const closing = nodes[1]!.gatekeeper.close();
    await cluster.time.advance(1000);
    await closing;
    expect(isComplete).toBe(true);
  });
});

describe('a scope without a leader', () => {
  it('for longer than lease, tolerance and 5 s is an alarm and a fault, until it has one', async () => {
    const cluster = newCluster();
    const nodes = await candidates(cluster, 2);
    await definitionsOf(nodes[0]!).pause(NAME, { by: 'ann' });
    await cluster.time.advance(LEASE + TOLERANCE + 4000);
    expect(nodes.flatMap((node) => node.of('no-leader'))).toEqual([]);
    await cluster.time.advance(3500);
    for (const node of nodes) {
      expect(node.of('no-leader')).toMatchObject([{ semaphore: NAME, scope: 'default' }]);
      expect(node.gatekeeper.health()).toMatchObject({
        status: 'degraded',
        grants: true,
        faults: [
          {
            code: 'no-leader',
            stopsGrants: false,
            sentence: expect.stringMatching(new RegExp(` 1\\d s: .*"${NAME}"`)),
          },
        ],
      });
    }
    await definitionsOf(nodes[0]!).resume(NAME);
    await cluster.time.advance(7000);
    for (const node of nodes) expect(node.gatekeeper.health().faults).toEqual([]);
    expect(nodes[0]!.of('no-leader')).toHaveLength(1);
  });

  it('says in its fault the present reason, not the one with which it began', async () => {
    const cluster = newCluster();
    const [node] = await candidates(cluster, 1);
    await definitionsOf(node!).pause(NAME, { by: 'ann' });
    await cluster.time.advance(LEASE + TOLERANCE + 7500);
    expect(node!.gatekeeper.health().faults[0]!.sentence).toContain('paused');
    await definitionsOf(node!).edit(NAME, { groupPattern: 'eu' });
    await definitionsOf(node!).resume(NAME);
    await cluster.time.advance(60_000);
    expect(node!.gatekeeper.health().faults[0]!.sentence).toMatch(/ [67]\d s: .*group/);
    expect(node!.of('no-leader')).toHaveLength(1);
  });

  it('is an alarm also when the leader died and no other node can lead', async () => {
    const cluster = newCluster();
    const leader = await candidate(cluster);
    const watching = await candidate(cluster, { group: 'eu' });
    await definitionsOf(leader).edit(NAME, { groupPattern: 'default' });
    cutOff(leader);
    await cluster.time.advance(3 * LEASE);
    expect(watching.of('no-leader')).toHaveLength(1);
    reconnect(leader);
    await cluster.time.advance(LEASE);
    expect(watching.gatekeeper.health().faults).toEqual([]);
  });
});

describe('a node that takes no part', () => {
  it('does not know the record of any scope, so it does not watch it either', async () => {
    const cluster = newCluster();
    await candidates(cluster, 1);
    const idle = await cluster.node();
    expect(idle.gatekeeper.cluster.status().leader).toBeUndefined();
    expect([...partsOf(idle.gatekeeper).directory.own.all()].map(({ name }) => name)).toEqual(['job']);
  });
});

describe('initialize()', () => {
  it('is not needed to hear who comes and goes', async () => {
    const cluster = newCluster();
    const idle = await cluster.node({ membership: {} });
    const sizes: number[] = [];
    idle.gatekeeper.cluster.status$.subscribe(({ participants }) => sizes.push(participants.length));
    const other = await candidate(cluster);
    await cluster.time.advance(2000);
    expect(sizes.at(-1)).toBe(2);
    const closing = other.gatekeeper.close();
    await cluster.time.advance(2000);
    await closing;
    expect(sizes.at(-1)).toBe(1);
  });

  it('later than the start makes the node take part, once', async () => {
    const cluster = newCluster();
    const node = await cluster.node({ leadership: { lease: LEASE } });
    await cluster.time.advance(LEASE);
    expect(await cluster.raw.records.read('semaphore:leader:default')).toBeUndefined();
    expect(scopeOf(node).isLeader).toBe(false);
    await Promise.all([node.gatekeeper.cluster.initialize(), node.gatekeeper.cluster.initialize()]);
    await cluster.time.advance(200);
    expect(scopeOf(node).isLeader).toBe(true);
  });

  it('before the store is there waits in the background', async () => {
    const cluster = newCluster();
    await cluster.bear();
    const node = cluster.unstarted({ definitionsDelay: 0, leadership: {} });
    cutOff(node);
    await node.gatekeeper.start();
    await node.gatekeeper.cluster.initialize();
    await cluster.time.advance(LEASE);
    expect(scopeOf(node).isLeader).toBe(false);
    reconnect(node);
    await cluster.time.advance(2 * LEASE);
    expect(scopeOf(node).isLeader).toBe(true);
  });
});
