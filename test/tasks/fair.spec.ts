import fc from 'fast-check';
import { type SubmitOptions, defineTask, single } from '../../lib/tasks/index.js';
import { LEASE, SWEPT, type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

/** Submits `count` tasks of a key, whose data are the key. */
async function submit({ tasks }: TaskNode, key: string, count: number, options: SubmitOptions = {}) {
  for (let i = 0; i < count; i++) await tasks.submit(single('mail', `${key}-${i}`), key, { fairKey: key, ...options });
}

/** A node that handles `mail`, one at a time. */
function worker(cluster: TaskCluster, ran: unknown[]): TaskNode {
  const node = cluster.node();
  node.tasks.handlers.handle('mail', ({ data }) => void ran.push(data), { lease: LEASE, concurrency: 1 });
  node.tasks.handlers.start();
  return node;
}

describe('tasks with fair keys', () => {
  it('of a key with one task wait about one round, whatever waits of the others', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await submit(node, 'large', 100);
    await submit(node, 'other', 50);
    await submit(node, 'small', 1);
    const ran: unknown[] = [];
    worker(cluster, ran);
    await cluster.time.advance(1000);
    expect(ran).toHaveLength(151);
    expect(ran.indexOf('small')).toBeLessThan(3);
    expect(ran.slice(3, 13).filter((key) => key === 'other')).toHaveLength(5);
  });

  it('are taken in turn, for any sizes, from the key behind the last one on', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 6 }), async (sizes) => {
        const cluster = newCluster();
        const node = cluster.node();
        for (const [index, size] of sizes.entries()) await submit(node, `key${index}`, size);
        const ran: unknown[] = [];
        worker(cluster, ran);
        await cluster.time.advance(1000);
        expect(ran).toHaveLength(sizes.reduce((sum, size) => sum + size, 0));
        // In each round every key that still has tasks has one turn.
        const left = new Map(sizes.map((size, index) => [`key${index}`, size]));
        for (let at = 0; at < ran.length;) {
          const round = ran.slice(at, at + left.size) as string[];
          expect(new Set(round)).toEqual(new Set(left.keys()));
          for (const key of round) {
            left.set(key, left.get(key)! - 1);
            if (left.get(key) === 0) left.delete(key);
          }
          at += round.length;
        }
      }),
      { numRuns: 25 },
    );
  });

  it('are all done by several nodes, and none twice', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    const ran: unknown[] = [];
    for (let nodes = 0; nodes < 3; nodes++) worker(cluster, ran);
    await submit(node, 'a', 40);
    await submit(node, 'b', 3);
    await cluster.time.advance(SWEPT);
    expect(ran.toSorted()).toEqual([...Array.from({ length: 40 }, () => 'a'), 'b', 'b', 'b']);
  });

  it('of a higher priority come first', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await submit(node, 'low', 3, { priority: 'low' });
    await submit(node, 'high', 3, { priority: 'high' });
    const ran: unknown[] = [];
    worker(cluster, ran);
    await cluster.time.advance(1000);
    expect(ran).toEqual(['high', 'high', 'high', 'low', 'low', 'low']);
  });

  it('run beside tasks without a key, also if all their tickets are lost', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await submit(node, 'a', 5);
    await node.store.hints.queue('mail', 'normal').drain(100);
    await node.tasks.submit(single('mail', 'plain'), 'plain');
    const ran: unknown[] = [];
    worker(cluster, ran);
    await cluster.time.advance(1000);
    expect(ran).toEqual(['plain']);
    await cluster.time.advance(2 * SWEPT);
    expect(ran.toSorted()).toEqual(['a', 'a', 'a', 'a', 'a', 'plain']);
  });

  it('begin although tasks without a key always wait at the head of the queue', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await submit(node, 'a', 3);
    await node.store.hints.queue('mail', 'normal').drain(100);
    const ran: unknown[] = [];
    const busy = cluster.node();
    let plain = 0;
    const again = () => busy.tasks.submit(single('mail', `plain-${plain++}`), 'plain');
    const work = async ({ data }: { data: unknown }) => {
      ran.push(data);
      await again();
      await new Promise<void>((resolve) => cluster.time.schedule(() => resolve(), 500));
    };
    busy.tasks.handlers.handle('mail', work, { lease: LEASE, concurrency: 1 });
    for (let i = 0; i < 5; i++) await again();
    busy.tasks.handlers.start();
    await cluster.time.advance(60_000);
    expect(ran.filter((key) => key === 'a')).toHaveLength(3);
  });

  it('are offered again once, and not in each turn of the sweep, while all workers are busy', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    const hints = node.store.hints.queue('mail', 'normal');
    await submit(node, 'a', 5);
    await cluster.time.advance(LEASE);
    await hints.drain(10);
    // An open task that was offered later is at the head of the queue.
    await node.tasks.submit(single('mail', 'plain'), 'plain');
    node.tasks.handlers.handle('mail', () => undefined, { lease: LEASE, concurrency: 1 });
    node.tasks.handlers.pauseType('mail');
    node.tasks.handlers.start();
    await cluster.time.advance(SWEPT);
    const after = await hints.size();
    expect(after).toBe(6);
    await cluster.time.advance(10 * SWEPT);
    expect(await hints.size()).toBe(after);
  });

  it('go to external workers in turn, too', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await submit(node, 'large', 20);
    await submit(node, 'small', 1);
    const signal = new AbortController().signal;
    const worker = { instance: 'http:importer', acquirer: 'importer' };
    const { external } = await node.tasks.open();
    const { tasks } = await external.claim({
      worker,
      types: ['mail'],
      most: 2,
      lease: LEASE,
      wait: 0,
      signal,
    });
    expect(tasks.map(({ claim }) => claim.task.fairKey).toSorted()).toEqual(['large', 'small']);
  });

  it('keep their key when they are tried again, and with unique and a serial queue', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    const byData = defineTask<{ tenant: string }>('mail', { fairKey: ({ tenant }: { tenant: string }) => tenant });
    await tasks.submit(single(byData, 'm'), { tenant: 'a' });
    await tasks.submit(single(byData, 'm'), { tenant: 'b' }, { unique: { onConflict: 'replace' } });
    expect(await tasks.find('mail:m')).toMatchObject({ fairKey: 'b', state: 'waiting' });
    await tasks.cancel('mail:m');
    await tasks.retry('mail:m');
    expect(await tasks.find('mail:m')).toMatchObject({ fairKey: 'b', state: 'waiting' });
    await tasks.submitSerial('q', single('mail', 's'), 1, { fairKey: 'c' });
    expect(await tasks.find('mail:s')).toMatchObject({ fairKey: 'c', state: 'waiting' });
  });

  it('cost two reads of a range for a claim at most, however long the backlog of a key is', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await submit(node, 'large', 300);
    await submit(node, 'small', 1);
    const { tasks } = node.driver;
    const range = tasks.range.bind(tasks);
    let [reads, rows] = [0, 0];
    const count = async (from: string, to: string, limit: number) => {
      const found = await range(from, to, limit);
      if (!from.startsWith('u|')) return found;
      reads++;
      rows += found.length;
      return found;
    };
    Object.assign(tasks, { range: count });
    const [hint] = await node.store.hints.queue('mail', 'normal').drain(1);
    for (let i = 0; i < 10; i++) expect(await node.store.claim(hint!, LEASE)).toBeDefined();
    expect(reads).toBeLessThanOrEqual(20);
    expect(rows).toBeLessThanOrEqual(20 * 16);
  });

  it.each<[unknown, string]>([
    ['', 'fairKey: "" is empty'],
    ['x'.repeat(201), 'fairKey: 201 characters'],
    [5, 'fairKey: 5 is neither a text nor a function of the data'],
    [() => 7, 'fairKey: 7 is not a text'],
  ])('refuse the key %p', async (fairKey, fault) => {
    const { tasks } = newCluster().node();
    await expect(tasks.submit(single('mail', 'm'), 1, { fairKey: fairKey as string })).rejects.toThrow(fault);
  });
});
