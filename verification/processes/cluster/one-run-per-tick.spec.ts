import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { eventually } from '../../../test/contract/eventually.js';
import type { NodeSaid } from './node-process.js';
import { Nodes } from './nodes.js';
import { describeWithWrongClocks } from './with-wrong-clocks.js';

const TICKS = 20;
const SEMAPHORES = ['above', 'below', 'given-back'];
/** ms that a node may be late in a tick that counts: a busy machine may keep it, or the member, waiting for longer. */
const LATE = 300;
/** ms: a timer may be a moment early. */
const EARLY = 50;

/** The wall second that a node believed to be in when it ticked; timers may be a moment early. */
const tickOf = ({ wall }: NodeSaid) => Math.round(wall / 1000);
/** ms from the tick, below 0 before it */
const lateness = (wall: number) => wall - 1000 * Math.round(wall / 1000);

describeWithWrongClocks('three nodes whose clocks are 0, 80 and 160 ms apart, and a 20 ms job each second', () => {
  let cluster: HazelcastCluster;
  let nodes: Nodes;
  let firstTick: number;

  beforeAll(async () => {
    cluster = await startHazelcast({ clusterName: 'one-run-per-tick' });
    nodes = new Nodes(cluster);
    await Promise.all([
      nodes.start({ name: 'on-time', jobs: ['both-orders'] }),
      nodes.start({ name: 'early', jobs: ['both-orders'] }, { offset: '+0.08s' }),
      nodes.start({ name: 'earliest', jobs: ['both-orders'] }, { offset: '+0.16s' }),
    ]);
    await eventually('each node has decided on each job', () => SEMAPHORES.every((name) => deciders(name) === 3));
    firstTick = Math.ceil(Date.now() / 1000) + 1;
    const isOver = () => nodes.running.every((node) => SEMAPHORES.every((name) => hasPassed(node.name, name)));
    await eventually(
      `${TICKS} ticks are over, in none of which the machine let a process wait`,
      () => {
        if (!isOver()) return false;
        firstTick = Math.max(firstTick, lastDisturbance() + 2);
        return isOver();
      },
      120_000,
    );
  });

  afterAll(async () => {
    await nodes?.[Symbol.asyncDispose]();
    await cluster?.stop();
  });

  /** How a node decided a tick: it ran, or found the permit taken. */
  function decisions(semaphore: string): NodeSaid[] {
    const skips = nodes.all('run-skipped', { semaphore, reason: 'no-permit' });
    return [...nodes.all('ran', { semaphore }), ...skips];
  }

  /** The last tick in which a node was late, or got no time. Its clock may be ahead by less than a tick. */
  function lastDisturbance(): number {
    const late = [...SEMAPHORES, 'given-back-too-early']
      .flatMap(decisions)
      .filter(({ wall }) => lateness(wall) > LATE || lateness(wall) < -EARLY);
    const stalls = nodes.all('stalled').filter(({ at, since }) => at - Number(since) > LATE);
    return Math.max(0, ...[...late, ...stalls].map(tickOf));
  }

  const deciders = (semaphore: string) => new Set(decisions(semaphore).map(({ node }) => node)).size;

  const hasPassed = (node: string, semaphore: string) =>
    decisions(semaphore).some((said) => said.node === node && tickOf(said) >= firstTick + TICKS);

  const isCounted = (said: NodeSaid) => tickOf(said) >= firstTick && tickOf(said) < firstTick + TICKS;

  it.each(SEMAPHORES)('run the job guarded %s exactly 20 times in 20 ticks, once in each', (semaphore) => {
    const runs = nodes.all('ran', { semaphore }).filter(isCounted);
    const ticks = Array.from({ length: TICKS }, (_, index) => firstTick + index);
    expect(runs.map(tickOf)).toEqual(ticks);
  });

  it.each(SEMAPHORES)(
    'all tick each second for the job guarded %s, and two of them find the permit taken',
    (semaphore) => {
      expect(decisions(semaphore).filter(isCounted)).toHaveLength(3 * TICKS);
    },
  );

  it('run it more often when the permit goes back before the last one ticks, which is why it is held', () => {
    const runs = nodes.all('ran', { semaphore: 'given-back-too-early' }).filter(isCounted);
    expect(runs.length).toBeGreaterThan(TICKS);
  });

  it('say nothing of an error', () => expect(nodes.faults).toEqual([]));
});
