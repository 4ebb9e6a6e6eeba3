import { InvalidTaskError } from '../../lib/tasks/index.js';
import { FIRST, MINUTE, MINUTELY, SOON, ScheduledJob } from './schedule-nodes.js';
import { keyOf, useCluster } from '../support/nodes.js';
import { type TaskCluster, SWEPT, useTaskCluster } from './task-nodes.js';

const create = useTaskCluster();
const newCluster = useCluster();

/** A run that ends when the test says so. */
function slowWork(job: ScheduledJob): () => void {
  let end: () => void = () => undefined;
  job.work = ({ plannedAt }) =>
    plannedAt.getTime() === FIRST ? new Promise<void>((resolve) => (end = resolve)) : undefined;
  return () => end();
}

const untilFirst = (cluster: TaskCluster) => FIRST - cluster.time.cluster() + SOON;

describe('a tick that comes while the former run has not ended', () => {
  it('runs beside it in mode once-per-tick', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const end = slowWork(job);
    job.node();
    await cluster.time.advance(untilFirst(cluster) + 2 * MINUTE);
    expect(job.minutes).toEqual([0, 1, 2]);
    end();
  });

  it('is skipped in mode at-most-one-running, which is reported, listed and explained', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const end = slowWork(job);
    const nodes = [job.node({ mode: 'at-most-one-running' }), job.node({ mode: 'at-most-one-running' })];
    await cluster.time.advance(untilFirst(cluster) + 2 * MINUTE);
    expect(job.minutes).toEqual([0]);
    const skipped = [FIRST + MINUTE, FIRST + 2 * MINUTE];
    expect(nodes.flatMap((node) => node.of('tick-skipped')).map(({ at }) => at)).toEqual(skipped);
    const [view] = await nodes[1]!.tasks.schedules.list();
    expect(view!.skipped).toEqual(skipped.map((at) => ({ at, former: FIRST })));
    expect(await nodes[0]!.tasks.explain('cron.job:2023-11-14T22:15:00Z')).toEqual({
      id: 'cron.job:2023-11-14T22:15:00Z',
      reason: 'skipped',
      former: 'cron.job:2023-11-14T22:14:00Z',
      sentence: 'this tick was skipped, because cron.job:2023-11-14T22:14:00Z had not ended',
    });
    end();
    await cluster.time.advance(MINUTE);
    expect(job.minutes).toEqual([0, 3]);
  });

  it('waits in mode queue: ticks run one after another, in their order, as soon as the former run has ended', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const end = slowWork(job);
    const [node] = [job.node({ mode: 'queue' }), job.node({ mode: 'queue' })];
    await cluster.time.advance(untilFirst(cluster) + 3 * MINUTE);
    expect(job.minutes).toEqual([0]);
    expect((await node.tasks.schedules.list())[0]).toMatchObject({ waiting: 3, run: FIRST, last: FIRST + 3 * MINUTE });
    end();
    await cluster.time.advance(5 * SOON);
    expect(job.minutes).toEqual([0, 1, 2, 3]);
    expect((await node.tasks.schedules.list())[0]).toMatchObject({ waiting: 0, run: FIRST + 3 * MINUTE });
  });

  it('is skipped in mode at-most-one-running also because of the latest run that is tried again by hand', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    let end: () => void = () => undefined;
    job.work = ({ plannedAt }) => {
      if (plannedAt.getTime() !== FIRST) return undefined;
      if (job.runs.length === 1) throw new InvalidTaskError('no');
      return new Promise<void>((resolve) => (end = resolve));
    };
    const node = job.node({ mode: 'at-most-one-running' });
    await cluster.time.advance(untilFirst(cluster));
    await node.tasks.retry('cron.job:2023-11-14T22:14:00Z');
    await cluster.time.advance(MINUTE);
    expect(job.minutes).toEqual([0, 0]);
    end();
    await cluster.time.advance(MINUTE);
    expect(job.minutes).toEqual([0, 0, 2]);
  });

  it('waits in mode queue also for a run that is tried again', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    job.work = ({ plannedAt, attempt }) => {
      if (plannedAt.getTime() === FIRST && attempt === 1) throw new Error('busy');
    };
    job.node({ mode: 'queue', backoff: { first: '2m' } });
    await cluster.time.advance(untilFirst(cluster) + 3 * MINUTE + SWEPT);
    expect(job.minutes.slice(0, 3)).toEqual([0, 0, 1]);
  });
});

describe('ticks that no node could submit', () => {
  /** All nodes stand still from before the tick 3 minutes after the first one. @returns the minutes of the runs after that */
  async function afterDowntime(missed: 'skip' | 'once' | 'all', minutes: number, seconds: number): Promise<number[]> {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const node = job.node({ missed });
    await cluster.time.advance(FIRST - cluster.time.cluster() + 2 * MINUTE + SOON);
    const before = job.minutes.length;
    cluster.time.freeze(FIRST + minutes * MINUTE + seconds * 1000 - cluster.time.cluster());
    await cluster.time.advance(5 * SOON);
    const missedFrom = node.of('ticks-missed').map(({ from }) => from);
    expect(missedFrom).toEqual(minutes > 4 ? [FIRST + 3 * MINUTE] : []);
    return job.minutes.slice(before).toSorted((one, other) => one - other);
  }

  it.each([
    ['skip', 'run not, but for the one that is less than a minute old', [20]],
    ['once', 'run not, if another one is less than a minute old', [20]],
    ['all', 'run all', Array.from({ length: 18 }, (_, index) => index + 3)],
  ] as const)('with missed: %s %s', async (missed, _rule, expected) => {
    expect(await afterDowntime(missed, 20, 30)).toEqual(expected);
  });

  it('run, whatever the option, if they are less than a minute late', async () => {
    expect(await afterDowntime('skip', 3, 45)).toEqual([3]);
  });

  it.each([
    ['skip', []],
    ['once', ['2023-11-14T15:00:00.000Z']],
  ] as const)('run with missed: %s if the last one was hours ago: %s', async (missed, expected) => {
    const cluster = create();
    const job = new ScheduledJob(cluster, '0 15 * * *');
    job.node({ missed });
    await cluster.time.advance(SOON);
    cluster.time.freeze(3 * 24 * 60 * MINUTE);
    await cluster.time.advance(SWEPT);
    const planned = job.runs.map((run) => new Date(run.planned).toISOString().replace('11-17', '11-14'));
    expect(planned).toEqual(expected);
  });

  it('run with missed: all at most 1,000 times, the last ones', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const node = job.node({ missed: 'all', concurrency: 1000 });
    await cluster.time.advance(SOON);
    cluster.time.freeze(3000 * MINUTE);
    await cluster.time.advance(SWEPT);
    expect(job.runs).toHaveLength(1000);
    const last = Math.floor((cluster.time.cluster() - FIRST) / MINUTE);
    expect(Math.min(...job.minutes)).toBe(last - 999);
    expect(node.of('ticks-missed')[0]!.sentence).toContain('they run now, at most the last 1000');
  });
});

describe('a new expression of a schedule', () => {
  it('leaves nothing of the old one, and begins with its own ticks from then on', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const old = job.node({ missed: 'all' });
    await cluster.time.advance(untilFirst(cluster));
    const closing = old.tasks.close();
    await cluster.time.advance(10 * MINUTE);
    await closing;
    const node = job.node({ missed: 'all' }, '30 */2 * * * *');
    await cluster.time.advance(4 * MINUTE);
    expect(job.minutes).toEqual([0, 10.5, 12.5]);
    expect(node.of('schedule-differs')).toHaveLength(1);
    expect(node.of('ticks-missed')).toEqual([]);
  });

  it('counts from the start of the first node that has it, also if that node is gone before its first tick', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const old = job.node();
    await cluster.time.advance(untilFirst(cluster));
    cluster.die(old);
    const first = job.node({ missed: 'once' }, '10,30 * * * *');
    await cluster.time.advance(10 * MINUTE);
    cluster.die(first);
    await cluster.time.advance(10 * MINUTE);
    const node = job.node({ missed: 'once' }, '10,30 * * * *');
    await cluster.time.advance(SOON);
    expect(job.minutes).toEqual([0, 16]);
    expect(node.of('ticks-missed')).toHaveLength(1);
  });

  it('counts together with the old one while nodes have both, and a warning names both', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const nodes = [job.node({}, '0 * * * * *'), job.node({}, '0,30 */2 * * * *')];
    await cluster.time.advance(untilFirst(cluster) + 3 * MINUTE);
    expect(job.minutes).toEqual([0, 0.5, 1, 2, 2.5, 3]);
    const [differs] = nodes.flatMap((node) => node.of('schedule-differs'));
    expect(differs!.sentence).toMatch(
      /"0 \* \* \* \* \*" in UTC.*"0,30 \*\/2 \* \* \* \*" in UTC|"0,30 \*\/2.*"0 \* \*/,
    );
    expect(nodes.flatMap((node) => node.of('schedule-differs')).length).toBeLessThanOrEqual(2);
  });
});

describe('a pause of the semaphore of the type', () => {
  it.each([
    ['once', [23]],
    ['all', [20, 21, 22, 23]],
  ] as const)('makes up for them when it ends, not at the next tick (%s)', async (missed, minutes) => {
    const cluster = newCluster();
    const { definitions, tasks } = (await cluster.node({ definitions: [] })).gatekeeper;
    const ran: number[] = [];
    const work = ({ plannedAt }: { plannedAt: Date }) => void ran.push(plannedAt.getUTCMinutes());
    tasks.schedules.add('job', '20-23 * * * *', work, { missed });
    tasks.start();
    await definitions.define({ name: 'task:cron.job', duration: 10_000, permits: 10 });
    await cluster.time.advance(MINUTE);
    await definitions.pause('task:cron.job');
    await cluster.time.advance(15 * MINUTE);
    expect(ran).toEqual([]);
    await definitions.resume('task:cron.job');
    await cluster.time.advance(5000);
    expect(ran.toSorted()).toEqual(minutes);
  });

  it.each([
    ['skip', 0],
    ['all', 10],
  ] as const)('stops the schedule in the cluster; its ticks count as missed (%s)', async (missed, caughtUp) => {
    const cluster = newCluster();
    const planned: number[] = [];
    const nodes = [await cluster.node({ definitions: [] }), await cluster.node({ definitions: [] })];
    for (const { gatekeeper } of nodes) {
      gatekeeper.tasks.schedules.add('job', '*/5 * * * *', (tick) => void planned.push(tick.plannedAt.getTime()), {
        missed,
      });
      gatekeeper.tasks.start();
    }
    const { definitions, tasks } = nodes[0]!.gatekeeper;
    await definitions.define({ name: 'task:cron.job', duration: 10_000, permits: 1000 });
    await cluster.time.advance(6 * MINUTE);
    expect(planned).toHaveLength(1);
    await definitions.pause('task:cron.job', { reason: 'maintenance' });
    await cluster.time.advance(50 * MINUTE);
    expect(planned).toHaveLength(1);
    expect(
      await tasks.find(`cron.job:${new Date(planned[0]! + 10 * MINUTE).toISOString().replace('.000', '')}`),
    ).toBeUndefined();
    await definitions.resume('task:cron.job');
    await cluster.time.advance(5 * MINUTE);
    expect(planned).toHaveLength(1 + caughtUp + 1);
    expect(new Set(planned).size).toBe(planned.length);
  });

  it('holds also for a node that has just started, and has not read the semaphore yet', async () => {
    const cluster = newCluster();
    const { definitions, tasks } = (await cluster.node({ definitions: [] })).gatekeeper;
    tasks.schedules.add('job', MINUTELY, () => undefined);
    tasks.start();
    await definitions.define({ name: 'task:cron.job', duration: 10_000, permits: 10 });
    await cluster.time.advance(MINUTE);
    await definitions.pause('task:cron.job');
    await cluster.time.advance(10 * MINUTE);
    const late = await cluster.node({ definitions: [] });
    let answer: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => (answer = resolve));
    late.store.script = async (_call, go, key) => {
      if (key === keyOf('task:cron.job')) await slow;
      return go();
    };
    late.gatekeeper.tasks.schedules.add('job', MINUTELY, () => undefined, { missed: 'all' });
    late.gatekeeper.tasks.start();
    await cluster.time.advance(SOON / 2);
    answer();
    await cluster.time.advance(2 * SOON);
    expect((await tasks.waitingTypes()).types).toEqual([]);
  });
});
