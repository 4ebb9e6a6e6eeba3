import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { InvalidTaskError, TaskCancelledError, type TaskContext, single } from '../../lib/tasks/index.js';
import { openEnd } from '../support/nodes.js';
import { FLAG, WAITS, importer, member, obey } from './importers.js';
import { LEASE, SWEPT, type TaskNode, loseAfter, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

describe('failGroupFast', () => {
  it('ends the members that wait when a flagged one fails, and then the handler of the group runs', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const submitter = cluster.node();
    for (const number of [1, 2, 3, 4]) await submitter.tasks.submit(member(number, 4), number === 2 ? 'bad' : 1, FLAG);
    await submitter.tasks.submit(single('import', 'other'));
    importer(cluster, log);
    await cluster.time.advance(1000);
    expect(log.toSorted()).toEqual([
      'import:other',
      'import[june]#1',
      'import[june]#2',
      'june: 1 of 4, cancelled,completed,failed',
    ]);
    expect(await submitter.tasks.find(member(3))).toMatchObject({
      state: 'cancelled',
      cancel: {
        by: 'import[june]#2',
        reason: 'import[june]#2 ended without success (failed), and has failGroupFast',
        isOfGroup: true,
      },
    });
    expect(await submitter.tasks.explain(member(4))).toMatchObject({
      reason: 'ended',
      task: { state: 'cancelled' },
      sentence: expect.stringMatching(/import\[june\]#2 .*failGroupFast/),
    });
  });

  it.each([
    ['invalid', () => Promise.reject(new InvalidTaskError('no such file'))],
    ['crashed', () => new Promise(() => undefined)],
  ])('counts a member that ends as %s', async (outcome, work) => {
    const cluster = newCluster();
    const log: string[] = [];
    const lost = cluster.node();
    lost.tasks.handlers.handle('import', work, { lease: LEASE, concurrency: 1, keepAlive: false });
    lost.tasks.handlers.start();
    await lost.tasks.submit(member(1, 2), 1, { ...FLAG, maxCrashes: 1 });
    await lost.tasks.submit(member(2, 2), 1, { ...FLAG, runAt: '1h' });
    await cluster.time.advance(1000);
    importer(cluster, log);
    await cluster.time.advance(LEASE + SWEPT);
    expect((await lost.tasks.find(member(1)))?.state).toBe(outcome);
    expect((await lost.tasks.find(member(2)))?.state).toBe('cancelled');
    expect(log.at(-1)).toBe(`june: 0 of 2, cancelled,${outcome}`);
  });

  // The claim of the member, its end, the text of the stop, and the stop in the root of the group.
  it.each([2, 3, 4])('begins no other member after a node died right after the failure: %d writes', async (writes) => {
    const cluster = newCluster();
    const log: string[] = [];
    const submitter = cluster.node();
    await submitter.tasks.submit(member(1, 3), 'bad', FLAG);
    const lost = cluster.node();
    const isLost = loseAfter(lost, writes);
    lost.tasks.handlers.handle('import', () => Promise.reject(new Error('bad')), { lease: LEASE, concurrency: 1 });
    lost.tasks.handlers.start();
    await cluster.time.advance(500);
    expect(isLost()).toBe(true);
    for (const number of [2, 3]) await submitter.tasks.submit(member(number, 3), 1, FLAG);
    importer(cluster, log);
    await cluster.time.advance(1000);
    expect(log.filter((line) => line.startsWith('import'))).toEqual([]);
    await cluster.time.advance(LEASE + SWEPT);
    expect(log).toEqual(['june: 0 of 3, cancelled,failed']);
  });

  it('counts a member that is cancelled by hand', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { tasks } = cluster.node();
    for (const number of [1, 2, 3]) await tasks.submit(member(number, 3), 1, FLAG);
    await tasks.cancel(member(3), { by: 'ada' });
    importer(cluster, log);
    await cluster.time.advance(1000);
    expect(log).toEqual(['june: 0 of 3, cancelled']);
    expect((await tasks.find(member(1)))?.cancel?.by).toBe('import[june]#3');
  });

  it('waits for the last attempt of the member, and only counts flagged ones', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = importer(cluster, log);
    const often = { ...FLAG, maxAttempts: 3, backoff: { first: '1m', longest: '1m' } };
    await node.tasks.submit(member(1, 4), 'bad', WAITS);
    await node.tasks.submit(member(2, 4), 'bad', often);
    for (const number of [3, 4]) await node.tasks.submit(member(number, 4), 1, FLAG);
    await cluster.time.advance(5000);
    expect((await node.tasks.find(member(4)))?.state).toBe('completed');
    await cluster.time.advance(200_000);
    expect(log.at(-1)).toBe('june: 2 of 4, completed,failed');
  });

  it('aborts the signals of those that run, at once on the same node, and elsewhere with the renewal', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const reasons: unknown[] = [];
    const { work, end } = openEnd();
    const run = async (task: TaskContext): Promise<unknown> => {
      if (task.data === 'bad') return work().then(() => Promise.reject(new Error('bad data')));
      return obey(task).catch((error: unknown) => {
        reasons.push([task.id, error]);
        return 'a late result';
      });
    };
    const node = cluster.node();
    node.tasks.handlers.handle('import', run, { lease: LEASE, concurrency: 2 });
    node.tasks.handlers.start();
    await node.tasks.submit(member(1, 3), 'bad', FLAG);
    await node.tasks.submit(member(2, 3), 1, WAITS);
    await cluster.time.advance(1000);
    const other = importer(cluster, log, run);
    await node.tasks.submit(member(3, 3), 1, WAITS);
    await cluster.time.advance(100);
    end();
    await cluster.time.advance(100);
    expect(reasons).toEqual([['import[june]#2', expect.any(TaskCancelledError)]]);
    await cluster.time.advance(LEASE / 3);
    expect(reasons).toHaveLength(2);
    for (const number of [2, 3]) {
      const found = await other.tasks.find(member(number));
      expect(found).toMatchObject({ state: 'cancelled' });
      expect(found).not.toHaveProperty('result');
    }
    expect(log.at(-1)).toBe('june: 0 of 3, cancelled,failed');
  });

  it('ends members that are submitted later, also without the flag, and the last one brings the total', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = importer(cluster, log);
    await node.tasks.submit(member(1), 'bad', FLAG);
    await cluster.time.advance(1000);
    for (const number of [2, 3]) {
      const answer = await node.tasks.submit(member(number, number === 3 ? 3 : undefined), 1, WAITS);
      expect(answer.outcome).toBe('created');
    }
    await cluster.time.advance(1000);
    expect(log).toEqual(['import[june]#1', 'june: 0 of 3, cancelled,failed']);
    expect(await node.tasks.submit(member(3, 3), 1, { dedup: 'retained' })).toMatchObject({ outcome: 'known' });
  });

  it('leaves no trace in the next incarnation, nor in the store', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = importer(cluster, log);
    for (const data of ['bad', 'good']) {
      for (const number of [1, 2]) await node.tasks.submit(member(number, 2), data, FLAG);
      await cluster.time.advance(1000);
    }
    expect(log.at(-1)).toBe('june: 2 of 2, completed');
    await cluster.time.advance(30 * 60_000);
    expect(await cluster.texts()).toEqual([]);
  });

  it('works for a group of sub-tasks', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = importer(cluster, log);
    node.tasks.handlers.handle('month', async ({ submit }) => {
      await submit(member(1), 'bad', FLAG);
      await submit(member(2), 1, { ...WAITS, runAt: '1h' });
      await cluster.time.advance(1000);
      await submit(member(3), 1, WAITS);
    });
    node.tasks.handlers.start();
    await node.tasks.submit(single('month', 'june'), undefined);
    await cluster.time.advance(5000);
    expect(log.slice(1)).toEqual(['june: 0 of 3, cancelled,failed']);
    expect(await node.tasks.find('month:june')).toMatchObject({
      state: 'completed',
      subTasks: { total: 1, failed: 0 },
    });
  });

  it('lets sub-tasks of a cancelled member go on, and the group waits for them', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { work, end } = openEnd();
    const node = importer(cluster, log, ({ data, submit, ...task }) =>
      data === 'bad'
        ? Promise.reject(new Error('bad data'))
        : submit(single('page', 'a')).then(() => obey({ data, submit, ...task })),
    );
    const printer = cluster.node();
    printer.tasks.handlers.handle('page', () => work().then(() => log.push('page')), { lease: LEASE });
    printer.tasks.handlers.start();
    await node.tasks.submit(member(1, 2), 'good', FLAG);
    await cluster.time.advance(1000);
    const failing = importer(cluster, log);
    await failing.tasks.submit(member(2, 2), 'bad', FLAG);
    await cluster.time.advance(LEASE);
    expect((await node.tasks.find(member(1)))?.state).toBe('awaiting');
    end();
    await cluster.time.advance(1000);
    expect(log.slice(-2)).toEqual(['page', 'june: 0 of 2, cancelled,failed']);
  });

  it('is refused for a task of no group, and as another value than a switch', async () => {
    const { tasks } = newCluster().node();
    await expect(tasks.submit(single('import', 'a'), 1, FLAG)).rejects.toThrow(
      'failGroupFast: the task is in no group; name it with grouped()',
    );
    await expect(tasks.submit(member(1), 1, { failGroupFast: 1 as never })).rejects.toThrow(InvalidOptionsError);
  });
});

describe('a node that is lost while a group is stopped', () => {
  async function submitAll({ tasks }: TaskNode): Promise<void> {
    for (const number of [1, 2, 3]) await tasks.submit(member(number, 3), number === 1 ? 'bad' : 1, FLAG);
  }

  // A run without a crash needs more writes than that.
  it.each(Array.from({ length: 14 }, (_, index) => index + 1))(
    'after %i writes leaves no member unended, and the handler runs once',
    async (writes) => {
      const cluster = newCluster();
      const log: string[] = [];
      const lost = importer(cluster, []);
      await submitAll(cluster.node());
      const isLost = loseAfter(lost, writes);
      await cluster.time.advance(1000);
      expect(isLost()).toBe(true);
      const node = importer(cluster, log);
      await cluster.time.advance(3 * (LEASE + SWEPT));
      expect(log.filter((line) => line.startsWith('june')).length).toBeLessThanOrEqual(1);
      for (const number of [1, 2, 3]) expect((await node.tasks.find(member(number)))?.endedAt).toBeDefined();
      expect((await node.tasks.find('import[june]#join'))?.state).toBe('completed');
      await cluster.time.advance(30 * 60_000);
      expect(await cluster.texts()).toEqual([]);
    },
  );
});
