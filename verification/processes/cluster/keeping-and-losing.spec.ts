import { once } from 'node:events';
import { connect } from 'node:net';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { sharedNow } from '../../apps/say.js';
import { eventually } from '../../../test/contract/eventually.js';
import { figure } from './figure.js';
import { GuardedResource } from './guarded-resource.js';
import type { NodeProcess, NodeSaid } from './node-process.js';
import { Nodes } from './nodes.js';
import { LATE_TICK, tickAfter } from './ticks.js';
import { describeOnHazelcast } from '../../needs/members.js';

const DURATION = 3000;
const CLOCK_TOLERANCE = 500;
const REPORT = { semaphore: 'report' };

describeOnHazelcast('a report of 10 s each second on three nodes, under a permit of 3 s', () => {
  let cluster: HazelcastCluster;
  let resource: GuardedResource;
  let nodes: Nodes;

  beforeAll(async () => {
    [cluster, resource] = await Promise.all([startHazelcast({ clusterName: 'keeping' }), GuardedResource.start()]);
    nodes = new Nodes(cluster);
    const settings = { jobs: ['report' as const], resource: resource.url };
    await Promise.all(['one', 'two', 'three'].map((name) => nodes.start({ name, ...settings })));
  });

  afterAll(async () => {
    await nodes?.[Symbol.asyncDispose]();
    await resource?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  const others = (node: NodeProcess) => nodes.running.filter((each) => each !== node);

  it('keeps its permit, and the others out, for as long as the node lives', async () => {
    const begun = await nodes.hears('begun', REPORT, { since: 0 });
    const holder = nodes.node(begun.node);
    const ended = await holder.hears('ended', REPORT, { within: 15_000 });
    expect(ended).toMatchObject({ token: begun.token, isHeld: true });
    expect(ended.at - begun.at).toBeGreaterThan(3 * DURATION);
    for (const other of others(holder)) {
      expect(other.all('begun', REPORT)).toEqual([]);
      // A node may tick before it has connected: what counts is from when it could ask.
      const asked = await other.hears('run-skipped', { ...REPORT, reason: 'no-permit' }, { since: 0 });
      const reasons = new Set(other.all('run-skipped', REPORT, asked.at).map(({ reason }) => reason));
      expect(reasons).toEqual(new Set(['no-permit']));
    }
    const kept = holder.all('refreshed', REPORT).filter(({ at }) => at < ended.at);
    figure('refreshed in one run', kept.length, 'times');
  });

  it('is taken over after kill -9 at the first tick after its permit expired, give or take a second', async () => {
    const page = await nodes.hears('page', { ...REPORT, page: 3 });
    const victim = nodes.node(page.node);
    await victim.kill();
    const { expiresAt } = await nodes.storedPermit('report');
    const successor = await nodes.hears('begun', REPORT);
    expect(successor.node).not.toBe(victim.name);
    expect(successor.token).toBeGreaterThan(page.token!);
    figure('runs again after the expiry', successor.wall - expiresAt);
    expect(successor.wall).toBeGreaterThanOrEqual(expiresAt + CLOCK_TOLERANCE);
    expect(successor.wall).toBeLessThan(tickAfter(expiresAt + 1000) + LATE_TICK);
  });

  describe('on a node that is frozen past the expiry of its permit', () => {
    let frozen: NodeProcess;
    let stale: NodeSaid;
    let successor: NodeSaid;
    let thawedAt: number;

    beforeAll(async () => {
      stale = await nodes.hears('page', { ...REPORT, page: 3 });
      frozen = nodes.node(stale.node);
      const { port } = frozen.last('awakening') as unknown as { port: number };
      await using socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      frozen.freeze();
      successor = await nodes.hears('page', { ...REPORT, page: 2 });
      // It lies in the kernel when the process goes on, before any timer is looked at.
      socket.write('are you awake?');
      thawedAt = sharedNow();
      frozen.thaw();
      await frozen.hears('first-timer-turn-over', {}, { since: thawedAt });
    });

    it('is taken over meanwhile with a larger token', () => {
      expect(successor.node).not.toBe(frozen.name);
      expect(successor.token).toBeGreaterThan(stale.token!);
      expect(successor.at).toBeLessThan(thawedAt);
    });

    it('finds its permit lost in the very first callback that runs, be it of I/O or a timer', () => {
      // Not a stall from before the freeze, which a busy machine may have caused.
      const woken = frozen.all('woken').filter(({ at }) => at >= thawedAt);
      expect(woken).toMatchObject([{ assertHeld: 'permit-lost' }]);
    });

    it('learns it from its signal in the first turn of timers', () => {
      expect(frozen.last('first-timer-turn-over')).toMatchObject({ isAborted: true });
    });

    it('is refused by the guarded resource when it writes all the same', async () => {
      const refusal = await eventually(
        'the resource refuses a write',
        () => resource.writes.find(({ isRefused }) => isRefused) ?? false,
      );
      expect(refusal).toMatchObject({ token: stale.token });
      const taken = resource.writes.filter(({ isRefused }) => !isRefused).map(({ token }) => token);
      expect(taken).toEqual(taken.toSorted((one, other) => one - other));
      expect(await frozen.hears('page', { status: 409 }, { since: 0 })).toMatchObject({ token: stale.token });
    });
  });

  it('leaves no error behind on any node', () => expect(nodes.faults).toEqual([]));
});
