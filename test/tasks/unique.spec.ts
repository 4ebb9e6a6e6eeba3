import { type SubmitOptions, single } from '../../lib/tasks/index.js';
import { slow } from './slow-node.js';
import { LEASE, SWEPT, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'customer-7');
const KEPT = { unique: { during: 'waiting' } } as const;
const REPLACED = { unique: { during: 'waiting', onConflict: 'replace' } } as const;
const NEWEST = { unique: { onConflict: 'replace' } } as const;

describe('a unique submission', () => {
  it.each<{ options: SubmitOptions; outcome: string; data: string; until: number }>([
    { options: {}, outcome: 'known', data: 'first', until: 10_000 },
    { options: { unique: {} }, outcome: 'known', data: 'first', until: 10_000 },
    { options: KEPT, outcome: 'known', data: 'first', until: 10_000 },
    { options: REPLACED, outcome: 'replaced', data: 'second', until: 40_000 },
    { options: NEWEST, outcome: 'replaced', data: 'second', until: 40_000 },
  ])('$options: a delayed task is $outcome', async ({ options, outcome, data, until }) => {
    const cluster = newCluster();
    const { node, ran, end } = slow(cluster);
    await node.tasks.submit(NAME, 'first', { runAt: 10_000 });
    const other = cluster.node();
    expect(await other.tasks.submit(NAME, 'second', { ...options, runAt: 40_000 })).toMatchObject({ outcome });
    await cluster.time.advance(until - 1000);
    expect(ran).toEqual([]);
    await cluster.time.advance(1000 + SWEPT);
    expect(ran).toEqual([data]);
    await end();
    expect(await other.tasks.find(NAME)).toMatchObject({ state: 'completed', result: `did ${data}` });
  });

  it('replaces a waiting task, with its priority and limits, and the old hint runs nothing', async () => {
    const cluster = newCluster();
    const submitter = cluster.node();
    await submitter.tasks.submit(NAME, 'first', { maxAttempts: 1, priority: 'low' });
    expect(await submitter.tasks.submit(NAME, 'second', { ...REPLACED, maxAttempts: 3, priority: 'high' })).toEqual({
      id: 'mail:customer-7',
      outcome: 'replaced',
      because: 'it had not begun',
    });
    expect(await submitter.tasks.find(NAME)).toMatchObject({ data: 'second', priority: 'high', maxAttempts: 3 });
    const { ran, end } = slow(cluster);
    await cluster.time.advance(SWEPT);
    await end();
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual(['second']);
  });

  it('while a task waits after a failure replaces it with fresh counts', async () => {
    const cluster = newCluster();
    const ran: unknown[] = [];
    const node = worker(cluster, ({ data }) => {
      ran.push(data);
      if (data === 'bad') throw new Error('bad');
    });
    await node.tasks.submit(NAME, 'bad', { backoff: { first: '1h', longest: '1h' } });
    await cluster.time.advance(100);
    expect(await node.tasks.submit(NAME, 'good', REPLACED)).toMatchObject({ outcome: 'replaced' });
    await cluster.time.advance(100);
    expect(ran).toEqual(['bad', 'good']);
    const task = await node.tasks.find(NAME);
    expect(task).toMatchObject({ state: 'completed', attempts: 0 });
    expect(task).not.toHaveProperty('lastError');
  });
});

it('a unique submission in the place of a task that waits for others waits for them, and for its time', async () => {
  const cluster = newCluster();
  const node = worker(cluster, () => undefined);
  const other = single('mail', 'other');
  await node.tasks.submit(other, 1, { runAt: 10_000 });
  await node.tasks.submit(NAME, 'first', { after: [other], runAt: 20_000 });
  const runAt = cluster.time.cluster() + 3_600_000;
  expect(await node.tasks.submit(NAME, 'second', { ...REPLACED, runAt: new Date(runAt) })).toMatchObject({
    outcome: 'replaced',
  });
  expect(await node.tasks.find(NAME)).toMatchObject({ state: 'blocked', data: 'second' });
  await cluster.time.advance(2 * SWEPT);
  expect(await node.tasks.find(NAME)).toMatchObject({ state: 'delayed', runAt });
});

describe('a unique submission while its task runs', () => {
  it('"unfinished" and "keep" is ignored', async () => {
    const cluster = newCluster();
    const { node, ran, end } = slow(cluster);
    await node.tasks.submit(NAME, 1);
    await cluster.time.advance(100);
    expect(await node.tasks.submit(NAME, 2, { unique: {} })).toMatchObject({ outcome: 'known' });
    await end();
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual([1]);
  });

  it.each([
    { options: KEPT, outcomes: ['created', 'known', 'known'], second: 2 },
    { options: REPLACED, outcomes: ['created', 'replaced', 'replaced'], second: 4 },
  ])('$options runs once more when it has ended', async ({ options, outcomes, second }) => {
    const cluster = newCluster();
    const { node, ran, end } = slow(cluster);
    await node.tasks.submit(NAME, 1);
    await cluster.time.advance(100);
    const answers = [];
    for (const data of [2, 3, 4]) answers.push(await cluster.node().tasks.submit(NAME, data, options));
    expect(answers.map(({ outcome }) => outcome)).toEqual(outcomes);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'running', next: { data: second, priority: 'normal' } });
    await cluster.time.advance(3 * LEASE);
    expect(ran).toEqual([1]);
    await end();
    expect(ran).toEqual([1, second]);
    expect(node.of('task-ended')).toMatchObject([{ outcome: 'completed' }]);
    await end();
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual([1, second]);
    const task = await node.tasks.find(NAME);
    expect(task).toMatchObject({ state: 'completed', result: `did ${second}` });
    expect(task).not.toHaveProperty('next');
  });

  it('"unfinished" and "replace" cancels it, also on another node, and runs in its place', async () => {
    const cluster = newCluster();
    const { node, ran, reasons, end } = slow(cluster);
    await node.tasks.submit(NAME, 1);
    await cluster.time.advance(100);
    expect(await cluster.node().tasks.submit(NAME, 2, NEWEST)).toMatchObject({ outcome: 'created' });
    await cluster.time.advance(LEASE);
    expect(reasons).toEqual([expect.stringContaining('a newer submission')]);
    expect(ran).toEqual([1]);
    await end();
    expect(ran).toEqual([1, 2]);
    expect(node.of('task-ended')).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await node.tasks.submit(NAME, 3, NEWEST)).toMatchObject({ outcome: 'created' });
    expect(reasons).toHaveLength(2);
    await end();
    await end();
    const task = await node.tasks.find(NAME);
    expect(task).toMatchObject({ state: 'completed', result: 'did 3' });
    expect(task).not.toHaveProperty('cancel');
  });

  it('begins at its own time, and a cancel by hand takes it away', async () => {
    const cluster = newCluster();
    const { node, ran, end } = slow(cluster);
    await node.tasks.submit(NAME, 1);
    await cluster.time.advance(100);
    await node.tasks.submit(NAME, 2, { ...KEPT, runAt: 60_000 });
    await end();
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'delayed' });
    await cluster.time.advance(60_000 + SWEPT);
    expect(ran).toEqual([1, 2]);
    await node.tasks.submit(NAME, 3, KEPT);
    await node.tasks.cancel(NAME);
    await end();
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual([1, 2]);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'cancelled' });
  });

  it.each([NEWEST, KEPT])(
    'is cancelled by hand although the running attempt is cancelled already: %j',
    async (options) => {
      const cluster = newCluster();
      const { node, ran, end } = slow(cluster);
      await node.tasks.submit(NAME, 1);
      await cluster.time.advance(100);
      await node.tasks.submit(NAME, 2, options);
      if (options === KEPT) await node.tasks.submit(NAME, 3, NEWEST);
      expect(await node.tasks.cancel(NAME)).toMatchObject({ outcome: 'requested' });
      await end();
      await cluster.time.advance(SWEPT);
      expect(ran).toEqual([1]);
      expect(await node.tasks.find(NAME)).toMatchObject({ state: 'cancelled' });
    },
  );

  it('begins after a crash of the running attempt, when no attempt is left', async () => {
    const cluster = newCluster();
    const ran: unknown[] = [];
    const node = worker(
      cluster,
      ({ data }) => {
        ran.push(data);
        return new Promise(() => undefined);
      },
      false,
    );
    await node.tasks.submit(NAME, 1, { maxCrashes: 1 });
    await cluster.time.advance(100);
    await node.tasks.submit(NAME, 2, KEPT);
    const rescuer = cluster.node();
    rescuer.tasks.handlers.handle('mail', ({ data }) => void ran.push(data));
    rescuer.tasks.handlers.start();
    await cluster.time.advance(LEASE + SWEPT);
    expect(ran).toEqual([1, 2]);
  });

  it('waits for its sub-tasks as well, and their list does not stay', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    const ran: unknown[] = [];
    node.tasks.handlers.handle('mail', async ({ data, submit }) => {
      ran.push(data);
      await submit(single('part', 'a'), data);
    });
    node.tasks.handlers.handle('part', async ({ data }) => {
      if (data === 1) await other.tasks.submit(NAME, 2, KEPT);
      ran.push(`part of ${String(data)}`);
    });
    const other = cluster.node();
    node.tasks.handlers.start();
    await node.tasks.submit(NAME, 1, { retention: 60_000 });
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual([1, 'part of 1', 2, 'part of 2']);
    await cluster.time.advance(2 * 3_600_000 + SWEPT);
    expect(await cluster.texts()).toEqual([]);
  });
});
