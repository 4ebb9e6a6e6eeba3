import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { sharedNow } from '../../apps/say.js';
import { eventually } from '../../../test/contract/eventually.js';
import { figure } from './figure.js';
import type { NodeProcess } from './node-process.js';
import { Nodes } from './nodes.js';
import { TICK } from './ticks.js';
import { describeOnHazelcast } from '../../needs/members.js';

const DURATION = 3000;
const CLOCK_TOLERANCE = 500;
const CALL_TIMEOUT = 600;
const SHORT = { semaphore: 'short' };
const LONG = { semaphore: 'long' };
const UNAVAILABLE = { ...SHORT, reason: 'unavailable' };
/** ms that timers and pipes may take on a busy machine. */
const SLACK = 250;

describeOnHazelcast('an app whose only Hazelcast member comes and goes', () => {
  let cluster: HazelcastCluster;
  let nodes: Nodes;
  let node: NodeProcess;

  beforeAll(async () => {
    cluster = await startHazelcast({ clusterName: 'store-absent' });
    nodes = new Nodes(cluster);
    await member().kill();
    node = await nodes.start({ name: 'patient', jobs: ['short', 'long'], options: { callTimeout: CALL_TIMEOUT } });
  });

  afterAll(async () => {
    await nodes?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  const member = () => cluster.members[0]!;

  /** ms from the tick to the slowest skip since, without those in which the machine gave the node no time. */
  const slowestSkip = (since: number) => {
    const skips = node.all('run-skipped', UNAVAILABLE, since).map(({ wall, at }) => ({ at, late: wall % TICK }));
    const slowest = Math.max(...skips.map(({ at, late }) => late - node.stalledWithin(at - late, at)));
    figure('the slowest skip after its tick', slowest);
    return slowest;
  };

  it('starts and answers without it, skips its jobs, and says why', async () => {
    await eventually('three ticks are skipped', () => node.all('run-skipped', UNAVAILABLE).length >= 3);
    const { store } = await node.state();
    expect(store.connected).toBe(false);
    expect(store.problem).toEqual(expect.stringMatching(/./));
    expect(node.all('begun')).toEqual([]);
  });

  it('connects when it comes, and runs its jobs', async () => {
    const since = sharedNow();
    await member().start();
    const startedAt = sharedNow();
    const [short] = await Promise.all([node.hears('begun', SHORT, { since }), node.hears('begun', LONG, { since })]);
    figure('first run after the member was up', short.at - startedAt);
    expect((await node.state()).store).toMatchObject({ connected: true });
  });

  describe('when it is lost in the midst of a run', () => {
    let lostAt: number;

    beforeAll(async () => {
      await node.hears('refreshed', LONG);
      await member().kill();
      lostAt = sharedNow();
      await eventually('three ticks are skipped', () => node.all('run-skipped', UNAVAILABLE, lostAt).length >= 3);
      await node.hears('ended', LONG, { since: lostAt });
    });

    it('skips its jobs within its call timeout', () => {
      expect(slowestSkip(lostAt)).toBeLessThan(CALL_TIMEOUT + SLACK);
      expect(node.all('begun', SHORT, lostAt + TICK)).toEqual([]);
    });

    it('keeps the run going until its lease ends, and then tells it', () => {
      const refreshed = node.all('refreshed', LONG).findLast(({ at }) => at <= lostAt + SLACK)!;
      const ended = node.all('ended', LONG, lostAt)[0]!;
      expect(ended).toMatchObject({ told: 'expired' });
      const lasted = ended.at - refreshed.at;
      figure('told after its last refresh', lasted);
      expect(lasted).toBeGreaterThan(DURATION - CLOCK_TOLERANCE - SLACK);
      const stalled = node.stalledWithin(refreshed.at, ended.at);
      expect(lasted - stalled).toBeLessThan(DURATION - CLOCK_TOLERANCE + SLACK);
    });

    it('says so where its health is looked at', async () => {
      const { store, semaphores } = await node.state();
      expect(store.connected).toBe(false);
      expect(store.problem).toEqual(expect.stringMatching(/./));
      expect(semaphores.map(({ name }) => name)).toEqual(['long', 'short']);
    });
  });

  it('puts back what it knew when it comes again, empty, and runs its jobs after a grace', async () => {
    const since = sharedNow();
    await member().start();
    const startedAt = sharedNow();
    const restored = await node.hears('restored', SHORT, { since });
    const [short] = await Promise.all([node.hears('begun', SHORT, { since }), node.hears('begun', LONG, { since })]);
    figure('restored after the member was up', restored.at - startedAt);
    figure('first run after that', short.at - restored.at);
    const waited = node.all('run-skipped', { ...SHORT, reason: 'recovering' }, since);
    expect(waited.length).toBeGreaterThan(0);
    const grace = short.at - restored.at;
    expect(grace).toBeGreaterThan(DURATION);
    expect(grace).toBeLessThan(DURATION + CLOCK_TOLERANCE + 2 * TICK);
    expect((await node.state()).store).toMatchObject({ connected: true });
  });

  it('skips its jobs within its call timeout also while the member is frozen, and goes on when that wakes', async () => {
    const since = sharedNow();
    await member().pause();
    await eventually('three ticks are skipped', () => node.all('run-skipped', UNAVAILABLE, since).length >= 3);
    expect(slowestSkip(since)).toBeLessThan(CALL_TIMEOUT + SLACK);
    const wokenAt = sharedNow();
    member().resume();
    const begun = await node.hears('begun', SHORT, { since: wokenAt });
    figure('first run after the member woke', begun.at - wokenAt);
  });

  it('never ends, and leaves no error behind', () => {
    expect(node.isRunning).toBe(true);
    expect(nodes.faults).toEqual([]);
  });
});
