import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { type TaskContext, single } from '../../lib/tasks/index.js';
import { decodeTask } from '../../lib/tasks/rules/task.codec.js';
import { openEnd } from '../support/nodes.js';
import { refused } from '../support/refused.js';
import { interceptWrites } from '../support/writes.js';
import { LEASE, SWEPT, type TaskCluster, type TaskNode, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'order-7');

/** A node that works on {@link NAME} until the test ends the work, the context of its handler, and its writes from now on. */
async function working(cluster: TaskCluster, keepAlive = true) {
  const { work, end } = openEnd<string>();
  const contexts: TaskContext[] = [];
  const node = worker(cluster, (task) => (contexts.push(task), work()), keepAlive);
  await node.tasks.submit(NAME);
  await cluster.time.advance(100);
  return { node, end, task: contexts[0]!, writes: countWrites(node) };
}

function countWrites({ driver }: TaskNode): string[] {
  const writes: string[] = [];
  interceptWrites(driver.tasks, 'replace', (go, { next }) => {
    writes.push(next!);
    return go();
  });
  return writes;
}

describe('progress()', () => {
  it('is seen by find() and explain() within a second or so', async () => {
    const cluster = newCluster();
    const { node, task } = await working(cluster);
    task.progress(3, 10, 'invoices');
    await cluster.time.advance(1100);
    const found = await node.tasks.find(NAME);
    expect(found?.progress).toEqual({ done: 3, total: 10, note: 'invoices', at: expect.any(Number) });
    const { sentence } = await cluster.node().tasks.explain(NAME);
    expect(sentence).toMatch(/; it had done 3 of 10 at \d{4}-\S+Z \(invoices\)$/);
  });

  it('costs one write a second, however often it is called, and that write renews the lease', async () => {
    const cluster = newCluster();
    const { task, writes } = await working(cluster);
    for (let done = 0; done < 60; done++) {
      for (let part = 0; part < 10; part++) task.progress(done + part / 10, 60);
      await cluster.time.advance(100);
    }
    expect(writes.length).toBeGreaterThanOrEqual(4);
    expect(writes.length).toBeLessThanOrEqual(6);
    const ends = writes.map((text) => decodeTask(text).at);
    expect(ends.at(-1)! - ends[0]!).toBeGreaterThan(3000);
  });

  it('comes with a renewal that is due anyway', async () => {
    const cluster = newCluster();
    const { node, task, writes } = await working(cluster);
    await cluster.time.advance(LEASE / 3 - 500);
    task.progress(1, 2);
    await cluster.time.advance(2000);
    expect(writes).toHaveLength(1);
    expect((await node.tasks.find(NAME))?.progress).toMatchObject({ done: 1, total: 2 });
  });

  it('costs a short attempt no write, and stays after the end', async () => {
    const cluster = newCluster();
    const { node, task, end, writes } = await working(cluster);
    task.progress(1, 2);
    task.progress(2, 2);
    end('sent');
    await cluster.time.advance(3000);
    expect(writes).toHaveLength(1);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'completed', progress: { done: 2, total: 2 } });
    task.progress(1, 2);
    await cluster.time.advance(3000);
    expect((await node.tasks.find(NAME))?.progress?.done).toBe(2);
  });

  it('leaves a lease as it is that is not kept alive', async () => {
    const cluster = newCluster();
    const { node, task } = await working(cluster, false);
    const before = (await node.tasks.find(NAME))?.lease?.until;
    task.progress(1, 2);
    await cluster.time.advance(2000);
    const found = await node.tasks.find(NAME);
    expect(found?.progress?.done).toBe(1);
    expect(found?.lease?.until).toBe(before);
  });

  it('begins anew with each attempt', async () => {
    const cluster = newCluster();
    const node = worker(cluster, ({ attempt, progress }) => {
      if (attempt === 2) return new Promise(() => undefined);
      progress(7, 10);
      throw new Error('no route to host');
    });
    await node.tasks.submit(NAME, undefined, { backoff: { first: '1m', longest: '1m' } });
    await cluster.time.advance(1000);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'delayed', progress: { done: 7 } });
    await cluster.time.advance(100_000);
    const found = await node.tasks.find(NAME);
    expect(found?.state).toBe('running');
    expect(found).not.toHaveProperty('progress');
  });

  it('of a node that lost the task changes nothing', async () => {
    const cluster = newCluster();
    const { task, end } = await working(cluster, false);
    const other = worker(cluster, ({ progress }) => {
      progress(5, 5);
      return 'second';
    });
    await cluster.time.advance(LEASE + SWEPT);
    task.progress(1, 5);
    end('first');
    await cluster.time.advance(3000);
    expect(await other.tasks.find(NAME)).toMatchObject({ result: 'second', progress: { done: 5 } });
  });

  it('refuses what is no number from 0 on, and notes that are long or have several lines', async () => {
    const cluster = newCluster();
    const { task } = await working(cluster);
    for (const bad of [NaN, Infinity, -1, '3' as never, undefined as never]) {
      expect(() => task.progress(bad, 10)).toThrow(InvalidOptionsError);
      expect(() => task.progress(1, bad)).toThrow(InvalidOptionsError);
    }
    expect(() => task.progress(1, 2, 'x'.repeat(201))).toThrow(refused('note'));
    expect(() => task.progress(1, 2, 'two\nlines')).toThrow(InvalidOptionsError);
    task.progress(1, 2, 'x'.repeat(200));
  });
});
