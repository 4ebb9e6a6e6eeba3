import { LeaseExpiredError, type TaskContext, type TaskFunction, single } from '../../lib/tasks/index.js';
import { FakeTime } from '../support/fake-time.js';
import { openEnd } from '../support/nodes.js';
import { GRACE, LEASE, SWEPT, type TaskCluster, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'order-7');

describe('an attempt that takes longer than maxDuration', () => {
  function slowNode(cluster: TaskCluster, work: TaskFunction) {
    const node = cluster.node();
    node.tasks.handlers.handle('mail', work, { lease: LEASE, concurrency: 1, maxDuration: 3 * LEASE });
    node.tasks.handlers.start();
    return node;
  }

  it('has failed if its handler gives up', async () => {
    const cluster = newCluster();
    const node = slowNode(
      cluster,
      ({ signal }) => new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason))),
    );
    await node.tasks.submit(NAME, undefined, { maxAttempts: 1 });
    await cluster.time.advance(3 * LEASE - 1000);
    expect(await node.tasks.find('mail:order-7')).toMatchObject({ state: 'running' });
    await cluster.time.advance(2000);
    expect(await node.tasks.find('mail:order-7')).toMatchObject({
      state: 'failed',
      crashes: 0,
      lastError: { name: 'TaskTimeoutError' },
    });
  });

  it('loses the task if its handler goes on, and a late result is refused', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const stuck = slowNode(cluster, work);
    await stuck.tasks.submit(NAME);
    await cluster.time.advance(3 * LEASE + 1000);
    const other = slowNode(cluster, () => 'from the other');
    await cluster.time.advance(LEASE + SWEPT);
    end();
    await cluster.time.advance(1000);
    expect(await other.tasks.find('mail:order-7')).toMatchObject({
      state: 'completed',
      crashes: 1,
      result: 'from the other',
    });
    expect(stuck.of('task-lost')).toHaveLength(1);
  });

  it('keeps its result if it ends in time', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const node = slowNode(cluster, work);
    await node.tasks.submit(NAME);
    await cluster.time.advance(2 * LEASE);
    end();
    await cluster.time.advance(3 * LEASE);
    expect(await node.tasks.find('mail:order-7')).toMatchObject({ state: 'completed' });
    expect(node.of('task-lost')).toEqual([]);
  });
});

describe('a lease', () => {
  it('is renewed while the handler works', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const node = worker(cluster, work);
    await node.tasks.submit(NAME);
    await cluster.time.advance(5 * LEASE);
    expect(await node.tasks.find('mail:order-7')).toMatchObject({ state: 'running', crashes: 0 });
    end();
    await cluster.time.advance(1000);
    expect((await node.tasks.find('mail:order-7'))?.state).toBe('completed');
  });

  it('that ends gives the task to another node, and the late result is refused', async () => {
    const cluster = newCluster();
    const slow = openEnd<string>();
    const reasons: unknown[] = [];
    const first = worker(
      cluster,
      ({ signal }) => (signal.addEventListener('abort', () => reasons.push(signal.reason)), slow.work()),
      false,
    );
    await first.tasks.submit(NAME);
    await cluster.time.advance(1000);
    const second = worker(cluster, () => 'from the second');
    await cluster.time.advance(LEASE + SWEPT);
    slow.end('from the first');
    await cluster.time.advance(1000);
    expect(reasons).toEqual([expect.any(LeaseExpiredError)]);
    expect(await second.tasks.find('mail:order-7')).toMatchObject({
      crashes: 1,
      state: 'completed',
      result: 'from the second',
    });
    expect(first.of('task-lost')).toHaveLength(1);
  });

  it('counts as a failed attempt if its handler throws before the task is taken away', async () => {
    const cluster = newCluster();
    const node = worker(
      cluster,
      ({ signal }) => new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason))),
      false,
    );
    await node.tasks.submit(NAME, undefined, { maxAttempts: 1 });
    await cluster.time.advance(LEASE + SWEPT);
    expect(await node.tasks.find(NAME)).toMatchObject({
      state: 'failed',
      attempts: 1,
      crashes: 0,
      lastError: { name: 'LeaseExpiredError' },
    });
    expect(node.of('task-ended')).toMatchObject([{ isFailure: true, outcome: 'failed' }]);
    expect(node.of('task-lost')).toEqual([]);
  });

  it('counts as a crash, and not as a failure as well, if its handler throws after the task was taken away', async () => {
    const cluster = newCluster();
    let fail!: (error: Error) => void;
    const node = worker(cluster, () => new Promise((_, reject) => (fail = reject)), false);
    await node.tasks.submit(NAME, undefined, { maxCrashes: 1 });
    await cluster.time.advance(LEASE + SWEPT);
    fail(new Error('too late'));
    await cluster.time.advance(1000);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'crashed', attempts: 0, crashes: 1 });
    expect(node.of('task-ended')).toEqual([]);
    expect(node.of('task-lost')).toHaveLength(1);
  });

  it('can be renewed by the handler, until another node has the task', async () => {
    const cluster = newCluster();
    const errors: unknown[] = [];
    const remaining: number[] = [];
    const wait = (ms: number) => new Promise<void>((resolve) => void cluster.time.schedule(resolve, ms));
    const first = worker(
      cluster,
      async ({ lease }) => {
        await wait(LEASE / 2);
        await lease.renew(3 * LEASE);
        remaining.push(lease.remaining);
        await wait(4 * LEASE);
        await lease.renew().catch((error: unknown) => errors.push(error));
      },
      false,
    );
    await first.tasks.submit(NAME);
    await cluster.time.advance(5 * LEASE);
    expect(remaining[0]).toBeGreaterThan(2.9 * LEASE);
    expect(errors).toEqual([expect.any(LeaseExpiredError)]);
  });

  it('that ends too often makes a dead letter: such a task may kill every node', async () => {
    const cluster = newCluster();
    const nodes = [1, 2, 3].map(() => worker(cluster, () => new Promise(() => undefined), false));
    await nodes[0]!.tasks.submit(NAME, undefined, { maxCrashes: 2 });
    await cluster.time.advance(4 * LEASE + 4 * SWEPT);
    expect(await nodes[0]!.tasks.find('mail:order-7')).toMatchObject({ crashes: 2, state: 'crashed' });
    const crashed = { type: 'task-crashed', task: 'mail:order-7', token: expect.any(Number) };
    expect(nodes.flatMap((node) => node.of('task-crashed'))).toEqual([
      { ...crashed, crashes: 1 },
      { ...crashed, crashes: 2, outcome: 'crashed' },
    ]);
  });
});

describe('a machine that slept', () => {
  async function afterSleep({ keepAlive }: { keepAlive: boolean }) {
    const cluster = newCluster();
    const time = new FakeTime();
    const sleeper = cluster.node({ time });
    const tasks: TaskContext[] = [];
    const work: TaskFunction = (task) => (tasks.push(task), new Promise(() => undefined));
    sleeper.tasks.handlers.handle('mail', work, { lease: LEASE, keepAlive });
    sleeper.tasks.handlers.start();
    await time.advance(1000);
    await sleeper.tasks.submit(NAME);
    await time.advance(1000);
    worker(cluster, () => 'from the other');
    await cluster.time.advance(LEASE + 2 * SWEPT);
    time.jumpWall(LEASE + 2 * SWEPT);
    expect((await sleeper.tasks.find('mail:order-7'))?.result).toBe('from the other');
    return { time, task: tasks[0]! };
  }

  it.each([true, false])('counts on no lease that ended meanwhile (keepAlive: %s)', async (keepAlive) => {
    const { task } = await afterSleep({ keepAlive });
    expect(task.lease.remaining).toBe(0);
  });

  it('tells the handler soon', async () => {
    const { time, task } = await afterSleep({ keepAlive: false });
    await time.advance(1000);
    expect(task.signal.reason).toBeInstanceOf(LeaseExpiredError);
  });
});

describe('a clock of the store that jumps ahead', () => {
  const JUMP = 60_000;
  const takers = (cluster: TaskCluster, work: TaskFunction, concurrency: number) => {
    const node = cluster.node();
    node.tasks.handlers.handle('mail', work, { lease: LEASE, concurrency });
    node.tasks.handlers.start();
    return node;
  };

  it('takes no task away from a node that lives', async () => {
    const cluster = newCluster();
    const sweeping = takers(cluster, () => 'from the other', 1);
    await cluster.time.advance(SWEPT);
    sweeping.tasks.handlers.pauseType('mail');
    const { work, end } = openEnd<string>();
    takers(cluster, work, 1);
    await sweeping.tasks.submit(NAME);
    await cluster.time.advance(1000);
    sweeping.tasks.handlers.resumeType('mail');
    cluster.jumpClock(JUMP);
    await cluster.time.advance(2 * JUMP);
    expect(await sweeping.tasks.find('mail:order-7')).toMatchObject({ state: 'running', crashes: 0 });
    end('from the first');
    await cluster.time.advance(1000);
    expect((await sweeping.tasks.find('mail:order-7'))?.result).toBe('from the first');
  });

  it('does not keep other nodes from the tasks of one that died', async () => {
    const cluster = newCluster();
    const dying = takers(cluster, () => new Promise(() => undefined), 100);
    const ids = Array.from({ length: 40 }, (_, number) => `mail:${number}`);
    for (const number of ids.keys()) await dying.tasks.submit(single('mail', `${number}`));
    await cluster.time.advance(1000);
    const living = takers(cluster, () => 'from the other', 100);
    await cluster.time.advance(1000);
    cluster.die(dying);
    cluster.jumpClock(JUMP);
    await cluster.time.advance(2 * LEASE + SWEPT);
    expect(living.context.clusterClock.mayJudge(LEASE)).toBe(false);
    const found = await Promise.all(ids.map((id) => living.tasks.find(id)));
    expect(found.map((task) => task?.result)).toEqual(ids.map(() => 'from the other'));
  });
});

describe('a clock of the store that was ahead, and was set back', () => {
  it('does not keep other nodes for so long from the tasks of one that died', async () => {
    const HOUR = 3_600_000;
    const cluster = newCluster();
    const living = worker(cluster, () => 'from the other');
    living.tasks.handlers.pauseType('mail');
    cluster.jumpClock(HOUR);
    const dying = worker(cluster, () => new Promise(() => undefined));
    await dying.tasks.submit(NAME);
    await cluster.time.advance(1000);
    cluster.die(dying);
    cluster.jumpClock(-HOUR);
    living.tasks.handlers.resumeType('mail');
    await cluster.time.advance(3 * LEASE + 2 * SWEPT);
    expect((await living.tasks.find(NAME))?.result).toBe('from the other');
  });
});

describe('close()', () => {
  it('waits for a running handler', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd<string>();
    const node = worker(cluster, work);
    await node.tasks.submit(NAME);
    await cluster.time.advance(100);
    const closing = node.tasks.handlers.close();
    await cluster.time.advance(GRACE / 2);
    end('in time');
    await cluster.time.advance(100);
    await closing;
    expect((await node.tasks.find('mail:order-7'))?.result).toBe('in time');
  });

  it('gives a task to another node at once if its handler ends with the signal', async () => {
    const cluster = newCluster();
    const node = worker(
      cluster,
      ({ signal }) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
    );
    await node.tasks.submit(NAME);
    await cluster.time.advance(100);
    const other = worker(cluster, () => 'from the other');
    const closing = node.tasks.handlers.close();
    await cluster.time.advance(GRACE + 500);
    await closing;
    expect(await other.tasks.find('mail:order-7')).toMatchObject({
      attempts: 0,
      crashes: 0,
      result: 'from the other',
    });
  });
});
