import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { InvalidTaskError, type TaskContext, grouped, single } from '../../lib/tasks/index.js';
import { LEASE, SWEPT, type TaskCluster, type TaskNode, loseAfter, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const SHORT = { retention: '5m', deadLetterRetention: '5m', maxCrashes: 100 } as const;

/** A node that takes 100 ms for each task, and writes down its begin and its end. */
function clerk(cluster: TaskCluster, log: string[], work: (task: TaskContext) => unknown = () => undefined): TaskNode {
  const node = cluster.node();
  const handle = async (task: TaskContext) => {
    log.push(`${task.id}+`);
    await new Promise<void>((resolve) => node.context.nodeClock.schedule(resolve, 100));
    await work(task);
    log.push(`${task.id}-`);
  };
  node.tasks.handlers.handle('move', handle, { lease: LEASE });
  node.tasks.handlers.start();
  return node;
}

const move = (name: string | number) => single('move', `${name}`);
const inOrder = (...names: readonly unknown[]) =>
  names.flatMap((name) => [`move:${String(name)}+`, `move:${String(name)}-`]);

describe('tasks of a serial queue', () => {
  it('run one at a time, in the order of their submissions, beside those of other queues', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const nodes = [clerk(cluster, log), clerk(cluster, log)];
    for (const name of [1, 2, 3, 4]) await nodes[name % 2]!.tasks.submitSerial('account 7', move(name));
    await nodes[0]!.tasks.submitSerial('account 8', move('other'));
    await cluster.time.advance(1000);
    expect(log.indexOf('move:other+')).toBeLessThan(log.indexOf('move:1-'));
    expect(log.filter((line) => !line.includes('other'))).toEqual(inOrder(1, 2, 3, 4));
  });

  it('go on after a failed one, but not between its attempts', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    let tries = 0;
    const node = clerk(cluster, log, ({ id }) => {
      if (id === 'move:1' && ++tries < 3) throw new Error('again');
      if (id === 'move:2') throw new InvalidTaskError('never');
    });
    for (const name of [1, 2, 3])
      await node.tasks.submitSerial('q', move(name), undefined, { backoff: { first: '5s' } });
    await cluster.time.advance(30_000);
    expect(log).toEqual(['move:1+', 'move:1+', ...inOrder(1), 'move:2+', ...inOrder(3)]);
  });

  it('take the next one behind a task for which as many others wait as may', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = clerk(cluster, log);
    const { tasks } = cluster.node();
    await tasks.submitSerial('account 7', move(1), undefined, { runAt: '1m' });
    for (let name = 0; name < 1000; name++) await tasks.submit(single('other', `${name}`), 0, { after: ['move:1'] });
    await expect(tasks.submit(single('other', 'too many'), 0, { after: ['move:1'] })).rejects.toThrow(
      InvalidOptionsError,
    );
    expect(await tasks.submitSerial('account 7', move(2))).toMatchObject({ outcome: 'created' });
    await cluster.time.advance(60_000 + SWEPT);
    expect(log).toEqual(inOrder(1, 2));
    expect(await node.tasks.find(single('other', '999'))).toMatchObject({ state: 'waiting' });
  });

  it('leave no record of their queue when it is empty, and begin it again', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = clerk(cluster, log);
    for (const name of [1, 2]) await node.tasks.submitSerial('q', move(name), undefined, SHORT);
    await cluster.time.advance(1000);
    expect((await cluster.texts()).filter((text) => text.startsWith('{'))).toEqual([]);
    await node.tasks.submitSerial('q', move(1), undefined, SHORT);
    await cluster.time.advance(1000);
    expect(log).toEqual(inOrder(1, 2, 1));
    await cluster.time.advance(600_000);
    expect(await cluster.texts()).toEqual([]);
  });

  it('are known until they have ended, and wait for their time at their turn', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = clerk(cluster, log);
    await node.tasks.submitSerial('q', move(1), undefined, { runAt: '10s' });
    await node.tasks.submitSerial('q', move(2));
    expect(await node.tasks.submitSerial('q', move(2))).toMatchObject({ outcome: 'known' });
    expect(await node.tasks.find(move(2))).toMatchObject({ state: 'blocked', queue: 'q', after: ['move:1'] });
    const { sentence } = await node.tasks.explain(move(2));
    expect(sentence).toBe('it waits for its turn in the queue "q", after "move:1"');
    await cluster.time.advance(8000);
    expect(log).toEqual([]);
    await cluster.time.advance(5000);
    expect(log).toEqual(inOrder(1, 2));
  });

  it('that are cancelled end at their turn, so that the next one does not begin too early', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = clerk(cluster, log);
    for (const name of [1, 2, 3]) await node.tasks.submitSerial('q', move(name));
    const because = 'it ends as cancelled when its turn in its queue comes, and does not run';
    expect(await node.tasks.cancel(move(2))).toMatchObject({ outcome: 'requested', because });
    await cluster.time.advance(50);
    expect(await node.tasks.find(move(3))).toMatchObject({ state: 'blocked' });
    await cluster.time.advance(1000);
    expect(log).toEqual(inOrder(1, 3));
    expect(await node.tasks.find(move(2))).toMatchObject({ state: 'cancelled' });
  });

  it('get a new place at the end when they are retried by hand', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    let isBad = true;
    const node = clerk(cluster, log, ({ id }) => {
      if (id === 'move:1' && isBad) throw new InvalidTaskError('bad');
    });
    await node.tasks.submitSerial('q', move(1));
    await cluster.time.advance(1000);
    isBad = false;
    for (const name of [2, 3]) await node.tasks.submitSerial('q', move(name));
    expect(await node.tasks.retry(move(1))).toMatchObject({ outcome: 'retried' });
    await cluster.time.advance(2000);
    expect(log).toEqual(['move:1+', ...inOrder(2, 3, 1)]);
  });

  it('refuse bad input', async () => {
    const { tasks } = newCluster().node();
    for (const [queue, name, options, message] of [
      ['', move(1), {}, 'queue: "" is empty'],
      [7, move(1), {}, 'queue: 7 '],
      ['q', grouped('move', 'g', 1), {}, 'a member of a group can not be in a queue'],
      ['q', move(1), { after: ['move:2'] }, 'waits for the one before it only'],
    ] as const) {
      const submitted = tasks.submitSerial(queue as string, name, undefined, options);
      await expect(submitted).rejects.toThrow(message);
      await expect(submitted).rejects.toBeInstanceOf(InvalidOptionsError);
    }
  });

  // Three submissions need 10 writes. A number that is not reached would test nothing.
  it.each(Array.from({ length: 10 }, (_, index) => index + 1))(
    'survive a submitter lost after %i writes',
    async (writes) => {
      const cluster = newCluster();
      const log: string[] = [];
      const submitAll = async ({ tasks }: TaskNode) => {
        const options = { ...SHORT, dedup: 'retained' } as const;
        for (const name of [1, 2, 3]) await tasks.submitSerial('q', move(name), undefined, options);
      };
      const lost = cluster.node();
      const isLost = loseAfter(lost, writes);
      void submitAll(lost).catch(() => undefined);
      await cluster.time.advance(1000);
      expect(isLost()).toBe(true);
      const node = clerk(cluster, log);
      await submitAll(node);
      await cluster.time.advance(2 * SWEPT);
      expect(log).toEqual(inOrder(1, 2, 3));
      await cluster.time.advance(600_000);
      expect(await cluster.texts()).toEqual([]);
    },
  );

  it.each(Array.from({ length: 12 }, (_, index) => index + 1))(
    'survive a worker lost after %i writes',
    async (writes) => {
      const cluster = newCluster();
      const log: string[] = [];
      const submitter = cluster.node();
      for (const name of [1, 2, 3]) await submitter.tasks.submitSerial('q', move(name), undefined, SHORT);
      const isLost = loseAfter(clerk(cluster, log), writes);
      await cluster.time.advance(1000);
      expect(isLost()).toBe(true);
      clerk(cluster, log);
      await cluster.time.advance(4 * (LEASE + SWEPT));
      const ends = log.filter((line) => line.endsWith('-'));
      expect([...new Set(ends)]).toEqual(['move:1-', 'move:2-', 'move:3-']);
      for (const [first, next] of [
        ['move:1-', 'move:2+'],
        ['move:2-', 'move:3+'],
      ] as const)
        expect(log.lastIndexOf(first)).toBeLessThan(log.indexOf(next));
      await cluster.time.advance(600_000);
      expect(await cluster.texts()).toEqual([]);
    },
  );
});
