import { type TaskContext, groupOf, grouped, single, wholeGroup } from '../../lib/tasks/index.js';
import { refused } from '../support/refused.js';
import { LEASE, SHORT_GROUP, SWEPT, type TaskCluster, type TaskNode, loseAfter, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const SHORT = { retention: '5m', deadLetterRetention: '5m', maxCrashes: 100 } as const;
const NONE = grouped('import', 'june', 0, 0);
const REPORT = single('report', 'june');
const AFTER = { after: [wholeGroup('import', 'june')] } as const;
/** Longer than records are remembered here. */
const FORGOTTEN = 900_000;

/** A node that handles `import` and what follows its groups; a `month` submits its data as a group of sub-tasks. */
function importer(cluster: TaskCluster, log: string[]): TaskNode {
  const node = cluster.node();
  const { handlers } = node.tasks;
  const month = ({ data, submitMany }: TaskContext) =>
    submitMany(groupOf('import', 'accounts', data as readonly unknown[], SHORT)).then(() => undefined);
  handlers.handle('import', ({ id }) => void log.push(id), { lease: LEASE });
  handlers.handle('report', ({ id }) => void log.push(id), { lease: LEASE });
  handlers.handle('month', month, { lease: LEASE });
  handlers.onGroupFinished(
    'import',
    async ({ group, total, failed, members }) => {
      for await (const { id } of members()) log.push(`read ${id}`);
      log.push(`end of ${group}: ${failed} of ${total} failed`);
    },
    { lease: LEASE, ...SHORT_GROUP },
  );
  handlers.start();
  return node;
}

/** @returns whether the node is lost, after it has noted so many writes */
async function submitAndBeLost(cluster: TaskCluster, writes: number, submit: (node: TaskNode) => Promise<unknown>) {
  const lost = cluster.node();
  const isLost = loseAfter(lost, writes);
  // Its answer never comes.
  void submit(lost).catch(() => undefined);
  await cluster.time.advance(1000);
  return isLost();
}

describe('a group without members', () => {
  it('runs its handler once, with a total of 0', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { tasks } = importer(cluster, log);
    expect(await tasks.submit(NONE)).toMatchObject({ id: 'import[june]#0', outcome: 'created' });
    await cluster.time.advance(SWEPT);
    expect(log).toEqual(['end of june: 0 of 0 failed']);
    const { groups } = await tasks.open();
    expect((await groups.page('import', 'june', 1, 10))!.group).toMatchObject({ state: 'closed', total: 0 });
  });

  it('comes of an empty list, as other groups come of others', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { tasks } = importer(cluster, log);
    const answers = await tasks.submitMany([
      ...groupOf('import', 'june', []),
      ...groupOf('import', 'july', ['a', 'b']),
    ]);
    expect(answers.map(({ id }) => id)).toEqual(['import[june]#0', 'import[july]#1', 'import[july]#2']);
    await cluster.time.advance(SWEPT);
    expect(log.filter((line) => line.startsWith('end'))).toEqual(
      expect.arrayContaining(['end of june: 0 of 0 failed', 'end of july: 0 of 2 failed']),
    );
  });

  it('ends for a task that waits for it, which may be submitted before it ends or after', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const submitter = cluster.node();
    await submitter.tasks.submit(NONE);
    await submitter.tasks.submit(REPORT, undefined, AFTER);
    importer(cluster, log);
    await cluster.time.advance(SWEPT);
    await submitter.tasks.submit(single('report', 'late'), undefined, AFTER);
    await cluster.time.advance(SWEPT);
    expect(log).toEqual(['end of june: 0 of 0 failed', 'report:june', 'report:late']);
  });

  it('is known while its handler has not ended, and a new one afterwards, also with members', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const submitter = cluster.node();
    await submitter.tasks.submit(NONE);
    expect(await submitter.tasks.submit(NONE)).toMatchObject({ outcome: 'known' });
    importer(cluster, log);
    await cluster.time.advance(SWEPT);
    for (const list of [['a'], [], []]) {
      const [answer] = await submitter.tasks.submitMany(groupOf('import', 'june', list));
      expect(answer).toMatchObject({ outcome: 'created' });
      await cluster.time.advance(SWEPT);
    }
    expect(log.filter((line) => line.startsWith('end'))).toEqual(
      [0, 1, 0, 0].map((total) => `end of june: 0 of ${total} failed`),
    );
  });

  it('with dedup "retained" is known as long as it is remembered', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { tasks } = importer(cluster, log);
    await tasks.submit(NONE);
    await cluster.time.advance(SWEPT);
    expect(await tasks.submit(NONE, undefined, { dedup: 'retained' })).toMatchObject({ outcome: 'known' });
    await cluster.time.advance(SWEPT);
    expect(log).toHaveLength(1);
  });

  it('leaves nothing in the store when it is forgotten', async () => {
    const cluster = newCluster();
    const { tasks } = importer(cluster, []);
    await tasks.submit(NONE, undefined, SHORT);
    await cluster.time.advance(FORGOTTEN);
    expect(await cluster.texts()).toEqual([]);
  });

  it('lets its handler run again by hand after it failed for good', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    let calls = 0;
    const handler = () => {
      if (++calls === 1) throw new Error('no mail server');
    };
    tasks.handlers.onGroupFinished('import', handler, { lease: LEASE, maxAttempts: 1 });
    tasks.handlers.start();
    await tasks.submit(NONE);
    await cluster.time.advance(SWEPT);
    expect(await tasks.find('import[june]#join')).toMatchObject({ state: 'failed' });
    await tasks.retry('import[june]#join');
    await cluster.time.advance(SWEPT);
    expect(await tasks.find('import[june]#join')).toMatchObject({ state: 'completed' });
    expect(calls).toBe(2);
  });

  it('ends when it is cancelled as well, and its handler runs', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const submitter = cluster.node();
    await submitter.tasks.submit(NONE, undefined, SHORT);
    expect(await submitter.tasks.cancelGroup('import', 'june')).toMatchObject({ outcome: 'ended' });
    importer(cluster, log);
    await cluster.time.advance(FORGOTTEN);
    expect(log).toEqual(['end of june: 0 of 0 failed']);
    expect(await cluster.texts()).toEqual([]);
  });
});

describe('a submission is refused', () => {
  it('of no members if the group has some, and of members if the group has none', async () => {
    const { tasks } = newCluster().node();
    await tasks.submitMany([...groupOf('import', 'june', []), ...groupOf('import', 'july', ['a'])]);
    await tasks.submit(grouped('import', 'may', 1));
    for (const name of [
      grouped('import', 'june', 1, 1),
      grouped('import', 'june', 2),
      grouped('import', 'july', 0, 0),
      grouped('import', 'may', 0, 0),
    ]) {
      await expect(tasks.submit(name)).rejects.toThrow(/total|number/u);
    }
  });

  it.each([
    ['number 0 of 3', () => grouped('import', 'june', 0, 3)],
    ['number 1 of 0', () => grouped('import', 'june', 1, 0)],
    ['number 0 without a total', () => grouped('import', 'june', 0)],
  ])('as %s', (_, name) => {
    expect(name).toThrow('a group without members is number 0 of a total of 0: give both');
  });

  it.each([{ after: ['mail:a'] }, { runAt: '1m' }] as const)('of no members with %j', async (options) => {
    await expect(newCluster().node().tasks.submit(NONE, undefined, options)).rejects.toThrow(refused('after, runAt'));
  });
});

describe('a group of sub-tasks without members', () => {
  it('runs its handler, and its parent ends after that', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { tasks } = importer(cluster, log);
    await tasks.submit(single('month', 'june'), [], SHORT);
    await cluster.time.advance(SWEPT);
    expect(log).toEqual(['end of accounts: 0 of 0 failed']);
    expect(await tasks.find('month:june')).toMatchObject({ state: 'completed', subTasks: { total: 1, failed: 0 } });
    await cluster.time.advance(FORGOTTEN);
    expect(await cluster.texts()).toEqual([]);
  });

  // The work needs more writes than that.
  it.each(Array.from({ length: 12 }, (_, index) => index + 1))(
    'goes on if its node is lost after %i writes',
    async (writes) => {
      const cluster = newCluster();
      const log: string[] = [];
      await cluster.node().tasks.submit(single('month', 'june'), [], SHORT);
      const isLost = loseAfter(importer(cluster, log), writes);
      await cluster.time.advance(1000);
      expect(isLost()).toBe(true);
      importer(cluster, log);
      await cluster.time.advance(4 * (LEASE + SWEPT));
      expect(new Set(log)).toEqual(new Set(['end of accounts: 0 of 0 failed']));
      await cluster.time.advance(FORGOTTEN);
      expect(await cluster.texts()).toEqual([]);
    },
  );
});

describe('a node that is lost while it submits a group without members', () => {
  // The first one is the root, which says already that the group has no members.
  it.each([1, 2, 3, 4, 5])('after %i writes: its handler runs for a task that waits for it', async (writes) => {
    const cluster = newCluster();
    const log: string[] = [];
    expect(await submitAndBeLost(cluster, writes, ({ tasks }) => tasks.submit(NONE, undefined, SHORT))).toBe(true);
    const node = importer(cluster, log);
    await node.tasks.submit(REPORT, undefined, { ...AFTER, ...SHORT });
    await cluster.time.advance(2 * (LEASE + SWEPT));
    expect(log).toEqual(['end of june: 0 of 0 failed', 'report:june']);
  });

  it.each([2, 3, 4, 5])('after %i writes: its handler runs without another submission', async (writes) => {
    const cluster = newCluster();
    const log: string[] = [];
    expect(await submitAndBeLost(cluster, writes, ({ tasks }) => tasks.submit(NONE, undefined, SHORT))).toBe(true);
    importer(cluster, log);
    await cluster.time.advance(2 * (LEASE + SWEPT));
    expect(log).toEqual(['end of june: 0 of 0 failed']);
    await cluster.time.advance(FORGOTTEN);
    expect(await cluster.texts()).toEqual([]);
  });

  it.each([1, 2, 3, 4, 5])('after %i writes: another submission has no further effect', async (writes) => {
    const cluster = newCluster();
    const log: string[] = [];
    expect(await submitAndBeLost(cluster, writes, ({ tasks }) => tasks.submit(NONE, undefined, SHORT))).toBe(true);
    await cluster.node().tasks.submit(NONE, undefined, SHORT);
    importer(cluster, log);
    await cluster.time.advance(2 * (LEASE + SWEPT));
    expect(log).toEqual(['end of june: 0 of 0 failed']);
  });

  it('gives the group up a day later, so that another submission may have members', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    expect(await submitAndBeLost(cluster, 1, ({ tasks }) => tasks.submit(NONE))).toBe(true);
    cluster.time.freeze(24 * 3_600_000);
    await cluster.time.advance(SWEPT);
    const { tasks } = importer(cluster, log);
    await tasks.submitMany(groupOf('import', 'june', ['a']));
    await cluster.time.advance(SWEPT);
    expect(log.at(-1)).toBe('end of june: 0 of 1 failed');
  });

  it('and is told to cancel it: its handler runs, and the stop does not stay', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    expect(await submitAndBeLost(cluster, 1, ({ tasks }) => tasks.submit(NONE))).toBe(true);
    const { tasks } = importer(cluster, log);
    await tasks.cancelGroup('import', 'june');
    await cluster.time.advance(2 * SWEPT);
    expect(log).toEqual(['end of june: 0 of 0 failed']);
    expect((await cluster.texts()).filter((text) => text.startsWith('s|'))).toEqual([]);
  });
});
