import { grouped, single } from '../../lib/tasks/index.js';
import { factory } from './after-nodes.js';
import { LEASE, SWEPT, type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

/** The text of the task becomes one that a newer version has written. @returns the former one */
async function makeNewer({ driver }: TaskNode, id: string): Promise<string> {
  const { tasks } = driver;
  const text = (await tasks.read(id))!;
  await tasks.compareAndSet(id, text, text.replace('"v":1', '"v":2'));
  return text;
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
    const { tasks } = node.driver;
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

it.each([1, 20])(
  '%i tasks with fair keys that this version can not read keep no others from their turns',
  async (count) => {
    const cluster = newCluster();
    const submitter = cluster.node();
    for (let index = 0; index < count; index++) {
      await submitter.tasks.submit(single('mail', `newer${index}`), undefined, { fairKey: `newer${index}` });
      await makeNewer(submitter, `mail:newer${index}`);
    }
    for (let index = 0; index < 40; index++)
      await submitter.tasks.submit(single('mail', `m${index}`), undefined, { fairKey: 'readable' });
    const node = cluster.node();
    const ran: string[] = [];
    node.tasks.handlers.handle('mail', ({ id }) => void ran.push(id), { lease: LEASE, concurrency: 1 });
    node.tasks.handlers.start();
    await cluster.time.advance(1000);
    expect(new Set(ran).size).toBe(40);
    await cluster.time.advance(SWEPT);
    expect(node.of('problem')[0]).toMatchObject({
      action: `sweep ${Math.min(16, count)} of ${Math.min(16, count)} tasks`,
    });
  },
);

describe('a task that waits for another one, and that this version can not read', () => {
  it('keeps neither the others that wait, nor the group from the end, and is reported once', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const submitter = cluster.node();
    await submitter.tasks.submit(grouped('import', 'june', 1, 1));
    const all = Array.from({ length: 60 }, (_, index) => `mail:m${index}`);
    for (const [index] of all.entries())
      await submitter.tasks.submit(single('mail', `m${index}`), undefined, { after: ['import[june]#1'] });
    for (const id of all.slice(0, 2)) await makeNewer(submitter, id);
    const node = factory(cluster, log);
    await cluster.time.advance(1000);
    expect(new Set(log)).toEqual(new Set(['import[june]#1', 'end of import june', ...all.slice(2)]));
    await cluster.time.advance(SWEPT);
    const told = node.of('problem').filter(({ action }) => action.startsWith('tell'));
    expect(told).toMatchObject([
      { action: 'tell 2 of 60 tasks that import[june]#1 has ended', error: { code: 'newer-record' } },
    ]);
  });

  it('runs after the end when it can be read', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log);
    await node.tasks.submit(single('import', 'june'), undefined, { runAt: 1000 });
    await node.tasks.submit(single('mail', 'm'), undefined, { after: ['import:june'] });
    const text = await makeNewer(node, 'mail:m');
    await cluster.time.advance(5000);
    expect(log).toEqual(['import:june']);
    const { tasks } = node.driver;
    await tasks.compareAndSet('mail:m', (await tasks.read('mail:m'))!, text);
    await cluster.time.advance(2 * SWEPT);
    expect(log).toEqual(['import:june', 'mail:m']);
  });
});

it('a member that this version can not read keeps a stop from no other member of its group', async () => {
  const cluster = newCluster();
  const submitter = cluster.node();
  const total = 1100;
  const names = Array.from({ length: total }, (_, index) => grouped('import', 'june', index + 1, total));
  await submitter.tasks.submitMany(names.map((name) => ({ name })));
  await makeNewer(submitter, 'import[june]#5');
  submitter.tasks.handlers.handle('mail', () => 1, { lease: LEASE });
  submitter.tasks.handlers.start();
  await submitter.tasks.cancelGroup('import', 'june');
  await cluster.time.advance(SWEPT);
  const { groups } = submitter.store;
  expect(await groups.progress((await groups.latest('import', 'june'))!)).toMatchObject({ ended: total - 1 });
});
