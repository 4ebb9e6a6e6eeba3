import { single } from '../../lib/tasks/index.js';
import { stateLinesOf } from '../../lib/tasks/overview/node-work.js';
import { FIRST, MINUTE, MINUTELY, SOON, ScheduledJob, countCalls } from './schedule-nodes.js';
import { openEnd } from '../support/nodes.js';
import { SWEPT, type TaskNode, loseAfter, useTaskCluster } from './task-nodes.js';

const create = useTaskCluster();

describe('a schedule on several nodes', () => {
  it('runs once at each planned time, on one of them', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    for (let count = 0; count < 3; count++) job.node();
    await cluster.time.advance(FIRST - cluster.time.cluster() + 3 * MINUTE + SOON);
    expect(job.minutes).toEqual([0, 1, 2, 3]);
    for (const { planned, at } of job.runs) {
      expect(at - planned).toBeGreaterThanOrEqual(0);
      expect(at - planned).toBeLessThan(100);
    }
  });

  it('gives the planned time and the name to the handler', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    job.node();
    await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
    const [{ context }] = job.runs as [(typeof job.runs)[0]];
    expect(context).toMatchObject({
      id: 'cron.job:2023-11-14T22:14:00Z',
      type: 'cron.job',
      schedule: 'job',
      attempt: 1,
    });
    expect(context.plannedAt).toEqual(new Date(FIRST));
  });

  it('goes on when the node that submitted the former ticks is gone', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const first = job.node();
    await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
    job.node();
    await cluster.time.advance(MINUTE);
    const closing = first.tasks.close();
    await cluster.time.advance(5000);
    await closing;
    await cluster.time.advance(2 * MINUTE);
    expect(job.minutes).toEqual([0, 1, 2, 3]);
    expect(job.runs.slice(2).map(({ node }) => node)).toEqual(['app2', 'app2']);
    expect(job.runs[2]!.at - job.runs[2]!.planned).toBeLessThan(600);
  });

  it.each([1, 2, 3])('runs each tick once if a node is lost after %i writes of it', async (writes) => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const node = job.node();
    await cluster.time.advance(FIRST - cluster.time.cluster() - SOON);
    job.node();
    await cluster.time.advance(SOON / 2);
    const isLost = loseAfter(node, writes);
    await cluster.time.advance(2 * MINUTE + SWEPT);
    expect(isLost()).toBe(true);
    expect(job.minutes).toEqual([0, 1, 2]);
    expect(job.runs.map((run) => run.node)).toEqual(['app2', 'app2', 'app2']);
  });

  it('runs a tick again whose handler failed', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster, '14 * * * *');
    job.work = ({ attempt }) => {
      if (attempt === 1) throw new Error('busy');
    };
    job.node();
    await cluster.time.advance(FIRST - cluster.time.cluster() + 10_000);
    expect(job.runs.map(({ context, planned }) => [context.attempt, planned])).toEqual([
      [1, FIRST],
      [2, FIRST],
    ]);
  });

  it('waits for a time that is further away than the longest timer of Node', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster, '0 0 1 3 *');
    const node = job.node();
    await cluster.time.advance(30_000);
    // The nodes have read the record once, and wait. In between they only look at their clocks.
    cluster.time.freeze(Date.parse('2024-02-29T23:59:00Z') - cluster.time.cluster());
    await cluster.time.advance(2 * MINUTE);
    expect(job.runs.map(({ planned }) => new Date(planned).toISOString())).toEqual(['2024-03-01T00:00:00.000Z']);
    expect(node.of('ticks-missed')).toEqual([]);
  });
});

describe('what a tick costs', () => {
  it('is three writes of one node and one read of each, and one read of the node that runs it', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const nodes = Array.from({ length: 5 }, () => job.node());
    await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
    const counts = nodes.map(countCalls);
    await cluster.time.advance(10 * MINUTE);
    expect(job.minutes).toHaveLength(11);
    const total = (name: string) => counts.reduce((sum, each) => sum + (each[name] ?? 0), 0);
    expect(counts.filter((each) => (each['replace record'] ?? 0) > 0)).toHaveLength(1);
    expect(total('replace record')).toBe(10 * 2);
    expect(total('create task')).toBe(10);
    expect(total('read record')).toBe(10 * (nodes.length - 1 + 1));
  });
});

describe('the clocks', () => {
  it('of a node may be wrong by any time: cluster time counts', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    cluster.time.jumpWall(100_000);
    job.node();
    await cluster.time.advance(1000);
    cluster.time.jumpWall(-300_000);
    job.node();
    await cluster.time.advance(FIRST - cluster.time.cluster() + MINUTE + SOON);
    expect(job.minutes).toEqual([0, 1]);
    for (const { planned, at } of job.runs) expect(Math.abs(at - planned)).toBeLessThan(600);
  });
});

describe('a schedule of which this cluster has heard before', () => {
  it('does not run a tick again that is forgotten, whatever a late node does', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster, '14 * * * *');
    const [node] = [job.node({ retention: '1m' }), job.node({ retention: '1m' })];
    await cluster.time.advance(FIRST - cluster.time.cluster() + 5 * MINUTE);
    expect(await node.tasks.find('cron.job:2023-11-14T22:14:00Z')).toBeUndefined();
    job.node({ missed: 'all' });
    await cluster.time.advance(5 * MINUTE);
    expect(job.minutes).toEqual([0]);
  });

  it('has its list of schedules on each node, with the next and the last time', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster, MINUTELY);
    job.node({ mode: 'queue' });
    const other = cluster.node();
    await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
    const listed = {
      name: 'job',
      type: 'cron.job',
      expression: MINUTELY,
      timeZone: 'UTC',
      mode: 'queue',
      next: FIRST + MINUTE,
      last: FIRST,
      run: FIRST,
      waiting: 0,
      skipped: [],
    };
    expect(await other.tasks.schedules.list()).toEqual([{ ...listed, isHere: false }]);
  });

  it('is listed with the others if a node can not read its record', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const [node, other] = [job.node(), cluster.node()];
    await cluster.time.advance(SOON);
    const { texts } = node.store;
    const text = (await texts.read('@job'))!;
    await texts.write('@later', undefined, text.replaceAll('job', 'later'));
    await texts.write('@job', text, text.replace('"v":1', '"v":99'));
    await texts.write('@broken', undefined, 'p|broken|{');
    const unreadable = { isUnreadable: true, waiting: 0, skipped: [] };
    expect(await other.tasks.schedules.list()).toEqual([
      { name: 'broken', type: 'cron.broken', isHere: false, ...unreadable },
      { name: 'job', type: 'cron.job', isHere: false, ...unreadable },
      expect.objectContaining({ name: 'later', expression: MINUTELY, isHere: false, next: FIRST }),
    ]);
    const [, own] = await node.tasks.schedules.list();
    expect(own).toMatchObject({ name: 'job', expression: MINUTELY, next: FIRST, isHere: true, ...unreadable });
    expect(await stateLinesOf(node.tasks)).toContainEqual(
      'state schedule=broken expression=unknown zone=unknown mode=unknown next=none last=none run=none waiting=0 elsewhere unreadable',
    );
  });
});

describe('a schedule that is ended at run time', () => {
  it('runs no more, and its name is free at once for another expression', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const node = job.node();
    const { schedules } = node.tasks;
    await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
    expect(job.minutes).toEqual([0]);
    expect([schedules.remove('job'), schedules.remove('job')]).toEqual([true, false]);
    await cluster.time.advance(3 * MINUTE);
    expect(job.minutes).toEqual([0]);
    const ran: number[] = [];
    schedules.add('job', '*/2 * * * *', ({ plannedAt }) => void ran.push((plannedAt.getTime() - FIRST) / MINUTE));
    await cluster.time.advance(4 * MINUTE);
    expect(ran).toEqual([4, 6]);
    expect(await schedules.list()).toEqual([expect.objectContaining({ name: 'job', expression: '*/2 * * * *' })]);
    // No other node has the former expression.
    expect(node.of('schedule-differs')).toEqual([]);
  });

  it('ends its run first, which a shutdown waits for, and goes on on other nodes', async () => {
    const cluster = create();
    const job = new ScheduledJob(cluster);
    const { work, end } = openEnd();
    job.work = work;
    const node = job.node();
    await cluster.time.advance(FIRST - cluster.time.cluster() + SOON);
    node.tasks.schedules.remove('job');
    let isClosed = false;
    void node.tasks.close().then(() => (isClosed = true));
    await cluster.time.advance(1000);
    expect(isClosed).toBe(false);
    end();
    await cluster.time.advance(1000);
    expect(isClosed).toBe(true);
    expect(await node.tasks.find('cron.job:2023-11-14T22:14:00Z')).toMatchObject({ state: 'completed' });
    job.node();
    await cluster.time.advance(MINUTE);
    expect(job.minutes).toEqual([0, 1]);
  });
});

it('a node that only submits takes no task, plans no tick, and is not listed as one that handles the type', async () => {
  const cluster = create();
  const script = cluster.node({ work: false });
  const job = new ScheduledJob(cluster);
  const ran: string[] = [];
  const handle = ({ tasks }: TaskNode, name: string) => {
    tasks.handlers.handle('mail', () => void ran.push(name));
    tasks.schedules.add('job', MINUTELY, () => void ran.push(`tick ${name}`));
    tasks.start();
  };
  handle(script, 'script');
  await script.tasks.submit(single('mail', 'a'));
  await cluster.time.advance(FIRST - cluster.time.cluster() + MINUTE + SOON);
  expect(ran).toEqual([]);
  expect(script.tasks.handlers.types()).toEqual([]);
  expect(await script.tasks.explain('mail:a')).not.toHaveProperty('here');
  const worker = job.node();
  worker.tasks.handlers.handle('mail', () => void ran.push('worker'));
  await cluster.time.advance(MINUTE);
  expect([ran, job.runs.length > 0]).toEqual([['worker'], true]);
});
