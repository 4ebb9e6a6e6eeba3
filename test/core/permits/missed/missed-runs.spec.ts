import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { partsOf } from '../../../../lib/gatekeeper/index.js';
import type { NodeClock } from '../../../../lib/core/async/node-clock.js';
import { START } from '../../../support/fake-time.js';
import { type TestCluster, type TestNode, openEnd, useCluster } from '../../../support/nodes.js';
import { every } from './planned.js';

const HOUR = 3_600_000;
const JOB = 'Jobs.export';
const KEY = `last-tick:${JOB}@job`;
/** The first planned time after the start of a test. */
const FIRST = every(HOUR).next(START);
const BY = { by: 'ann' };

interface Options {
  readonly runs?: string[];
  readonly work?: () => unknown;
  readonly expression?: string;
  readonly nodeClock?: NodeClock;
  readonly isScheduled?: boolean;
}

/** A node whose job has `missed: 'once'`. The scheduler calls `tick`. */
async function nodeOf(cluster: TestCluster, options: Options = {}) {
  const { runs = [], expression = 'every hour', nodeClock, isScheduled = true } = options;
  const node = await cluster.node({ history: true }, nodeClock);
  const { acquirer } = node.gatekeeper.node;
  const { work = () => runs.push(acquirer) } = options;
  const tick = () => node.gatekeeper.run('job', work, { job: JOB });
  const job = { semaphore: 'job', job: JOB, call: tick, expression, timeZone: 'UTC', times: every(HOUR) };
  partsOf(node.gatekeeper).missedRuns.serve([{ ...job, isScheduled: () => isScheduled }]);
  return { ...node, tick };
}

const lastOf = async ({ raw }: TestCluster) => JSON.parse((await raw.records.read(KEY))!).last as number;
const started = (nodes: readonly TestNode[]) => nodes.flatMap(({ of }) => of('run-started'));

describe('a missed run', () => {
  const cluster = useCluster();

  /** A cluster that was up once, noted a run, and is down over planned times. */
  async function down(hours: number, into = 5 * 60_000) {
    const nodes = cluster();
    const former = await nodeOf(nodes);
    await nodes.time.advance(FIRST - START);
    await former.tick();
    await nodes.time.advance(1000);
    expect(await lastOf(nodes)).toBe(FIRST);
    const closing = former.gatekeeper.close();
    await nodes.time.advance(0);
    await closing;
    nodes.time.freeze(hours * HOUR + into);
    return nodes;
  }

  it('is made up for once after the start, for the last planned time, when three nodes start at once', async () => {
    const nodes = await down(3);
    const runs: string[] = [];
    const all = await Promise.all([1, 2, 3].map(() => nodeOf(nodes, { runs })));
    await nodes.time.advance(40 * 60_000);
    expect(runs).toHaveLength(1);
    expect(started(all)).toEqual([expect.objectContaining({ job: JOB, missed: FIRST + 3 * HOUR })]);
    expect(await lastOf(nodes)).toBe(FIRST + 3 * HOUR);
    const [entry] = await all[0]!.gatekeeper.history(5).then((entries) => entries.toReversed());
    expect(entry).toMatchObject({ job: JOB, missed: FIRST + 3 * HOUR, outcome: 'ok' });
    expect(all.flatMap(({ of }) => of('run-skipped'))).toEqual([]);
  });

  it('is made up for once although the clock of a node is hours off', async () => {
    const nodes = await down(3);
    const runs: string[] = [];
    const { monotonic, schedule, nextTurn } = nodes.time;
    const off = (hours: number) => ({ monotonic, schedule, nextTurn, wall: () => nodes.time.wall() + hours * HOUR });
    const all = await Promise.all([off(5), off(-5), nodes.time].map((nodeClock) => nodeOf(nodes, { runs, nodeClock })));
    await nodes.time.advance(40 * 60_000);
    expect(started(all)).toEqual([expect.objectContaining({ missed: FIRST + 3 * HOUR })]);
    expect(runs).toHaveLength(1);
  });

  it('is made up for once with several permits, when nodes settle it at the same moment', async () => {
    const nodes = await down(2);
    const runs: string[] = [];
    const first = await nodes.node();
    await first.gatekeeper.definitions.edit('job', { permits: 3 }, BY);
    const all = await Promise.all([1, 2, 3].map(() => nodeOf(nodes, { runs })));
    const gates = all.map(() => openEnd());
    for (const [index, { store }] of all.entries()) {
      store.script = async (call, go, key) => {
        if (call === 'compareAndSet' && key === KEY && runs.length === 0) await gates[index]!.work();
        return go();
      };
    }
    await nodes.time.advance(2000);
    // All of them have a permit, and are about to settle the same planned time.
    await Promise.all(gates.map((gate) => gate.started));
    for (const { end } of gates) end();
    await nodes.time.advance(30 * 60_000);
    expect(started(all)).toHaveLength(1);
    expect(runs).toHaveLength(1);
  });

  it('is none after a run on time, or when the job is seen for the first time', async () => {
    const nodes = await down(0);
    const runs: string[] = [];
    await nodeOf(nodes, { runs });
    await nodes.time.advance(10 * 60_000);
    const other = cluster();
    await nodeOf(other, { runs });
    await other.time.advance(10 * 60_000);
    expect(runs).toEqual([]);
  });

  it('is none after another schedule was deployed, and for a node whose scheduler is off', async () => {
    const nodes = await down(3);
    const runs: string[] = [];
    await nodeOf(nodes, { runs, isScheduled: false });
    await nodes.time.advance(10 * 60_000);
    expect(await lastOf(nodes)).toBe(FIRST);
    await nodeOf(nodes, { runs, expression: 'each hour' });
    await nodes.time.advance(10 * 60_000);
    expect(runs).toEqual([]);
    expect(await lastOf(nodes)).toBeGreaterThan(FIRST + 3 * HOUR);
  });

  it('waits until the planned time is a minute old: another node may be about to run it', async () => {
    const nodes = await down(1, 20_000);
    const runs: string[] = [];
    await nodeOf(nodes, { runs });
    await nodes.time.advance(35_000);
    expect(runs).toEqual([]);
    await nodes.time.advance(10_000);
    expect(runs).toHaveLength(1);
  });

  it('waits for the permit of a node that died', async () => {
    const nodes = await down(1);
    const dead = await nodes.node();
    await dead.gatekeeper.definitions.edit('job', { duration: '10m' }, BY);
    await dead.gatekeeper.tryAcquire('job');
    const runs: string[] = [];
    await nodeOf(nodes, { runs });
    await nodes.time.advance(9 * 60_000);
    expect(runs).toEqual([]);
    await nodes.time.advance(2 * 60_000);
    expect(runs).toHaveLength(1);
  });

  it('is left to the next planned time during a pause, and paused times are not made up for', async () => {
    const nodes = await down(1, 50 * 60_000);
    const runs: string[] = [];
    const node = await nodes.node();
    await node.gatekeeper.definitions.pause('job', BY);
    const worker = await nodeOf(nodes, { runs });
    await nodes.time.advance(FIRST + 2 * HOUR - nodes.time.cluster());
    expect(await worker.tick()).toEqual({ executed: false, reason: 'paused' });
    await nodes.time.advance(5 * 60_000);
    expect(await lastOf(nodes)).toBe(FIRST + 2 * HOUR);
    await node.gatekeeper.definitions.resume('job', BY);
    await nodeOf(nodes, { runs });
    await nodes.time.advance(10 * 60_000);
    expect(runs).toEqual([]);
  });

  it('is made up for when the store was away over the planned time', async () => {
    const nodes = cluster();
    const runs: string[] = [];
    const worker = await nodeOf(nodes, { runs });
    await nodes.time.advance(5000);
    worker.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await nodes.time.advance(FIRST - nodes.time.cluster());
    await worker.tick();
    await nodes.time.advance(5 * 60_000);
    expect(runs).toEqual([]);
    worker.store.script = undefined;
    await nodes.time.advance(2 * 60_000);
    expect(runs).toHaveLength(1);
    expect(worker.of('run-started')).toEqual([expect.objectContaining({ missed: FIRST })]);
  });

  it('is not made up for again when its node dies during the run', async () => {
    const nodes = await down(1);
    let runs = 0;
    const worker = await nodeOf(nodes, { work: () => (runs++, new Promise(() => undefined)) });
    await nodes.time.advance(2000);
    expect(runs).toBe(1);
    worker.store.script = () => Promise.reject(new StoreUnavailableError('cut off'));
    await nodeOf(nodes, { work: () => runs++ });
    await nodes.time.advance(30 * 60_000);
    expect(runs).toBe(1);
  });

  it('is not made up for after the store has lost the record', async () => {
    const nodes = await down(1);
    const runs: string[] = [];
    await nodeOf(nodes, { runs });
    await nodes.time.advance(60_000);
    nodes.lose(KEY);
    const other = await nodeOf(nodes, { runs });
    await nodes.time.advance(60_000);
    await other.gatekeeper.close();
    expect(runs).toHaveLength(1);
  });

  it('is noted although the store did not answer when the run began', async () => {
    const nodes = cluster();
    const worker = await nodeOf(nodes);
    await nodes.time.advance(FIRST - START);
    worker.store.script = (call, go, key) =>
      call === 'compareAndSet' && key === KEY ? Promise.reject(new StoreUnavailableError('away')) : go();
    await worker.tick();
    await nodes.time.advance(60_000);
    expect(await lastOf(nodes)).toBeLessThan(FIRST);
    worker.store.script = undefined;
    await nodes.time.advance(6000);
    expect(await lastOf(nodes)).toBe(FIRST);
  });

  it('is made up for although the begin of the run before could not be noted until then', async () => {
    const nodes = cluster();
    const runs: string[] = [];
    const worker = await nodeOf(nodes, { runs });
    await nodes.time.advance(FIRST - START);
    worker.store.script = (call, go, key) =>
      call === 'compareAndSet' && key === KEY ? Promise.reject(new StoreUnavailableError('away')) : go();
    await worker.tick();
    worker.store.script = () => Promise.reject(new StoreUnavailableError('away'));
    await nodes.time.advance(HOUR + 5 * 60_000);
    worker.store.script = undefined;
    await nodes.time.advance(2 * 60_000);
    expect(worker.of('run-started')).toMatchObject([{ job: JOB }, { missed: FIRST + HOUR }]);
    expect(await lastOf(nodes)).toBe(FIRST + HOUR);
  });

  it('asks the store as often for many runs that could not be noted as for one', async () => {
    const nodes = cluster();
    const worker = await nodeOf(nodes);
    await nodes.time.advance(FIRST - START);
    let asked = 0;
    worker.store.script = (_call, go, key) =>
      key === KEY ? (asked++, Promise.reject(new StoreUnavailableError('away'))) : go();
    const askedInAMinute = async () => {
      const before = asked;
      await nodes.time.advance(60_000);
      return asked - before;
    };
    await worker.tick();
    const afterOne = await askedInAMinute();
    for (let runs = 0; runs < 5; runs++) await worker.tick();
    expect([afterOne, await askedInAMinute()]).toEqual([afterOne, afterOne]);
    expect(afterOne).toBeGreaterThan(5);
    // Once the store is back, the last one is noted.
    worker.store.script = undefined;
    await nodes.time.advance(HOUR);
    await worker.tick();
    await nodes.time.advance(1000);
    expect(await lastOf(nodes)).toBe(FIRST + HOUR);
  });

  it('costs nothing for other jobs', async () => {
    const nodes = cluster();
    const node = await nodes.node();
    partsOf(node.gatekeeper).missedRuns.serve([]);
    const keys: (string | undefined)[] = [];
    node.store.script = (_call, go, key) => (keys.push(key), go());
    await node.gatekeeper.run('job', () => 1, { job: 'other' });
    await nodes.time.advance(60_000);
    expect(keys.length).toBeGreaterThan(0);
    expect(keys.filter((key) => key?.startsWith('last-tick'))).toEqual([]);
  });
});
