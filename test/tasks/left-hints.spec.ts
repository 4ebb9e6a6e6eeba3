import { type SubmitOptions, single } from '../../lib/tasks/index.js';
import { LEASE, SWEPT, type TaskNode, loseAfter, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const REPLACED = { unique: { during: 'waiting', onConflict: 'replace' } } as const;

const sizeOf = (node: TaskNode, queue = 'mail.normal') => node.driver.queue(queue).size();

describe('a task that no node takes', () => {
  it.each<{ how: string; options: SubmitOptions }>([
    { how: 'is replaced', options: REPLACED },
    { how: 'with a fair key is replaced', options: { ...REPLACED, fairKey: 'customer' } },
  ])('and $how has one hint, and counts once', async ({ options }) => {
    const node = newCluster().node();
    for (let data = 1; data <= 20; data++) await node.tasks.submit(single('mail', 'x'), data, options);
    expect(await sizeOf(node)).toBe(1);
    expect(await node.tasks.waitingTypes()).toMatchObject({ types: [{ type: 'mail', waiting: 1 }] });
  });

  it('and is replaced runs as it was submitted last, at once when there is a node for it', async () => {
    const cluster = newCluster();
    const submitter = cluster.node();
    for (const data of [1, 2, 3]) await submitter.tasks.submit(single('mail', 'x'), data, REPLACED);
    const ran: unknown[] = [];
    worker(cluster, ({ data }) => void ran.push(data));
    await cluster.time.advance(100);
    expect(ran).toEqual([3]);
  });

  it('and is replaced in another queue, or for a later time, leaves no hint in the former one', async () => {
    const node = newCluster().node();
    for (let data = 1; data <= 5; data++) {
      await node.tasks.submit(single('mail', 'x'), data, { ...REPLACED, priority: 'low' });
      await node.tasks.submit(single('mail', 'x'), data, { ...REPLACED, priority: 'high' });
    }
    expect([await sizeOf(node, 'mail.low'), await sizeOf(node, 'mail.high')]).toEqual([0, 1]);
    await node.tasks.submit(single('mail', 'x'), 6, {
      ...REPLACED,
      runAt: 60_000,
    });
    expect(await sizeOf(node, 'mail.high')).toBe(0);
  });

  it.each<SubmitOptions>([{}, { fairKey: 'customer' }])('and is cancelled leaves no hint: %j', async (options) => {
    const node = newCluster().node();
    await node.tasks.submit(single('mail', 'other'), 1, options);
    for (let times = 1; times <= 5; times++) {
      await node.tasks.submit(single('mail', 'x'), 1, options);
      await node.tasks.cancel('mail:x');
    }
    expect(await sizeOf(node)).toBe(1);
    await node.tasks.cancel('mail:other');
    expect(await sizeOf(node)).toBe(0);
  });

  it('has one hint, however many tasks wait for its end', async () => {
    const cluster = newCluster();
    const submitter = cluster.node();
    await submitter.tasks.submit(single('mail', 'x'));
    const after = ['mail:x'];
    for (let number = 1; number <= 5; number++)
      await submitter.tasks.submit(single('mail', `y${number}`), 1, { after });
    expect(await sizeOf(submitter)).toBe(1);
    const ran: string[] = [];
    worker(cluster, ({ id }) => void ran.push(id));
    await cluster.time.advance(LEASE / 2);
    expect(ran).toHaveLength(6);
  });

  it('keeps its hint although it is replaced again and again while that hint is lost', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => undefined);
    node.tasks.handlers.pauseType('mail');
    await cluster.time.advance(SWEPT);
    await node.tasks.submit(single('mail', 'x'), 0, REPLACED);
    await node.driver.queue('mail.normal').drain(10);
    for (let data = 1; data <= SWEPT / 1000; data++) {
      await cluster.time.advance(1000);
      await node.tasks.submit(single('mail', 'x'), data, REPLACED);
    }
    expect(await sizeOf(node)).toBe(1);
  });
});

describe('a hint whose task ended while its node was lost', () => {
  it('is removed by the sweep when it comes to the head of its queue, and others stay', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    const ids = ['a', 'b', 'c'];
    for (const id of ids) await node.tasks.submit(single('mail', id));
    for (const id of ['mail:a', 'mail:b']) {
      const lost = cluster.node();
      loseAfter(lost, 1);
      lost.tasks.cancel(id).catch(() => undefined); // it is lost
      await cluster.time.advance(0);
    }
    expect(await sizeOf(node)).toBe(3);
    const sweeper = cluster.node();
    sweeper.tasks.handlers.handle('else', () => undefined);
    sweeper.tasks.handlers.start();
    await cluster.time.advance(2 * SWEPT);
    const states = await Promise.all(ids.map(async (id) => (await node.tasks.find(`mail:${id}`))?.state));
    expect(states).toEqual(['cancelled', 'cancelled', 'waiting']);
    expect(await sizeOf(node)).toBe(1);
  });
});
