import { describe, expect, it } from '@jest/globals';
import { single } from '../../lib/tasks/index.js';
import { LEASE, type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

/** The text of the task becomes one that a newer version has written. */
async function makeNewer({ context }: TaskNode, id: string): Promise<void> {
  const { tasks } = context.store.tasks!;
  const text = (await tasks.read(id))!;
  await tasks.replace(id, text, text.replace('"v":1', '"v":2'));
}

describe('addressed tasks that this version can not read', () => {
  /** A node that handles `mail`, and the addressed tasks `m0`, `m1` and so on, in this order; `ran` has the ids of those that ran. */
  async function addressed(cluster: TaskCluster, isNewer: readonly boolean[], concurrency: number) {
    const node = cluster.node();
    const ran: string[] = [];
    node.tasks.handlers.handle('mail', ({ id }) => void ran.push(id), { lease: LEASE, concurrency });
    for (const [index, isOne] of isNewer.entries()) {
      await node.tasks.submit(single('mail', `m${index}`), undefined, { to: 'app1' });
      if (isOne) await makeNewer(node, `mail:m${index}`);
      await cluster.time.advance(1);
    }
    const { tasks } = node.context.store.tasks!;
    const range = tasks.range.bind(tasks);
    const reads = { count: 0 };
    tasks.range = (...args) => {
      // A node that reads without a pause would never let the time go on.
      if (++reads.count > 2000) return new Promise(() => undefined);
      return range(...args);
    };
    return { node, ran, reads };
  }

  it.each([1, 4])('neither keep others from a node with room for %i, nor its looks from their pauses', async (room) => {
    const cluster = newCluster();
    const { node, ran, reads } = await addressed(cluster, [...Array.from({ length: room }, () => true), false], room);
    node.tasks.handlers.start();
    await cluster.time.advance(20_000);
    expect(ran).toEqual([`mail:m${room}`]);
    expect(reads.count).toBeLessThan(500);
    expect(node.of('problem')).toEqual([]);
  });

  it('do not slow others down that stand among them', async () => {
    const cluster = newCluster();
    const isNewer = Array.from({ length: 40 }, (_, index) => index % 4 !== 3);
    const { node, ran } = await addressed(cluster, isNewer, 10);
    node.tasks.handlers.start();
    await cluster.time.advance(100);
    expect(ran).toHaveLength(10);
  });

  it('may be more than one look passes', async () => {
    const cluster = newCluster();
    const isNewer = [...Array.from({ length: 150 }, () => true), false];
    const { node, ran } = await addressed(cluster, isNewer, 1);
    node.tasks.handlers.start();
    await cluster.time.advance(4000);
    expect(ran).toEqual(['mail:m150']);
  });
});
