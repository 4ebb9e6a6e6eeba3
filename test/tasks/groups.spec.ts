import { joinType } from '../../lib/tasks/rules/task-id.js';
import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { type GroupContext, grouped } from '../../lib/tasks/index.js';
import { USUAL_LIMITS } from '../../lib/tasks/rules/task.js';
import { SHORT_GROUP, type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

interface Joined {
  readonly group: string;
  readonly completed: number;
  readonly failed: number;
  readonly results: readonly unknown[];
}

/** A node that handles `import`, and the groups whose handler has run. */
function importer(cluster: TaskCluster): { node: TaskNode; joined: Joined[] } {
  const node = cluster.node();
  const joined: Joined[] = [];
  node.tasks.handlers.handle('import', ({ data }) => {
    if (data === 'bad') throw new Error('bad data');
    return `did ${String(data)}`;
  });
  node.tasks.handlers.onGroupFinished(
    'import',
    async (group: GroupContext) => {
      const results: unknown[] = [];
      for await (const { result, outcome } of group.members()) results.push(result ?? outcome);
      joined.push({ group: group.group, completed: group.completed, failed: group.failed, results });
    },
    { ...SHORT_GROUP, retention: '1m' },
  );
  node.tasks.handlers.start();
  return { node, joined };
}

describe('a group', () => {
  it('runs its handler once when all members have ended, with their results by number', async () => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    for (const number of [3, 1, 2]) await node.tasks.submit(grouped('import', 'june', number, 3), number);
    await cluster.time.advance(2000);
    expect(joined).toEqual([{ group: 'june', completed: 3, failed: 0, results: ['did 1', 'did 2', 'did 3'] }]);
  });

  it('counts members that did not complete', async () => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    await node.tasks.submit(grouped('import', 'june', 1, 2), 'good');
    await node.tasks.submit(grouped('import', 'june', 2, 2), 'bad', { maxAttempts: 1 });
    await cluster.time.advance(2000);
    expect(joined).toEqual([{ group: 'june', completed: 1, failed: 1, results: ['did good', 'failed'] }]);
  });

  it('waits for its total, also if all members that are known have ended', async () => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    await node.tasks.submit(grouped('import', 'june', 1), 1);
    await node.tasks.submit(grouped('import', 'june', 2), 2);
    await cluster.time.advance(5000);
    expect(joined).toEqual([]);
    const again = await node.tasks.submit(grouped('import', 'june', 2, 2), 2);
    expect(again).toMatchObject({ outcome: 'known' });
    await cluster.time.advance(2000);
    expect(joined).toHaveLength(1);
  });

  it('spans pages of members', async () => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    const total = 1030;
    for (let number = 1; number <= total; number++) {
      await node.tasks.submit(grouped('import', 'june', number, number === total ? total : undefined), number);
    }
    await cluster.time.advance(5000);
    expect(joined).toMatchObject([{ completed: total, failed: 0 }]);
  });

  it('is another incarnation when it is submitted again after its end', async () => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    for (let night = 1; night <= 2; night++) {
      for (const number of [1, 2]) {
        const { outcome } = await node.tasks.submit(grouped('import', 'nightly', number, 2), `${night}.${number}`);
        expect(outcome).toBe('created');
      }
      await cluster.time.advance(2000);
    }
    expect(joined.map(({ results }) => results)).toEqual([
      ['did 1.1', 'did 1.2'],
      ['did 2.1', 'did 2.2'],
    ]);
  });

  it('knows a member that is submitted twice, at the same moment, from two nodes', async () => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    const other = cluster.node();
    const name = grouped('import', 'june', 1, 1);
    const answers = await Promise.all([node.tasks.submit(name, 1), other.tasks.submit(name, 1)]);
    expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual(['created', 'known']);
    await cluster.time.advance(2000);
    expect(joined).toHaveLength(1);
  });

  it('refuses members that disagree on the total, and numbers above it', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await node.tasks.submit(grouped('import', 'june', 1, 3));
    await expect(node.tasks.submit(grouped('import', 'june', 2, 4))).rejects.toThrow(
      "a task of group import[june] can't be used: total: 4, but another member said 3",
    );
    await expect(node.tasks.submit(grouped('import', 'june', 5))).rejects.toThrow(InvalidOptionsError);
    expect(await node.tasks.find('import[june]#5')).toBeUndefined();
  });

  it('is remembered with its members until its handler has run, then forgotten', async () => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    await node.tasks.submit(grouped('import', 'june', 1), 1, { retention: '1m' });
    await cluster.time.advance(10 * 60_000);
    expect(await node.tasks.find('import[june]#1')).toMatchObject({
      state: 'completed',
      keptUntil: expect.any(Number),
    });
    await node.tasks.submit(grouped('import', 'june', 2, 2), 2, { retention: '1m' });
    await cluster.time.advance(1000);
    expect(joined).toMatchObject([{ results: ['did 1', 'did 2'] }]);
    await cluster.time.advance(5 * 60_000);
    const storage = node.driver;
    expect(await storage.tasks.range('', '~', 10)).toEqual([]);
    expect(await storage.groups.read('root:import[june]')).toBeUndefined();
  });

  it('does not run its handler for a write that the store applies after the group was closed', async () => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    await node.tasks.submit(grouped('import', 'june', 1, 1), 1, { retention: '1m' });
    await cluster.time.advance(1000);
    const { incarnation } = (await node.store.find('import[june]#join'))!.join!;
    await cluster.time.advance(5 * 60_000);
    await node.store.submit(
      {
        id: 'import[june]#join',
        type: joinType('import'),
        priority: 'high',
        limits: USUAL_LIMITS,
        join: { group: 'june', incarnation },
      },
      'unfinished',
    );
    await cluster.time.advance(1000);
    expect(joined).toHaveLength(1);
    expect(await node.tasks.find('import[june]#join')).toMatchObject({
      state: 'completed',
      keptUntil: expect.any(Number),
    });
  });
});

it('200,000 sub-tasks of one group may begin at the same time', async () => {
  const { store } = newCluster().node();
  const numbers = Array.from({ length: 200_000 }, (_, index) => index + 1);
  const begun = numbers.map((number) => store.groups.begin('page', { group: 'all', incarnation: 1 }, { number }));
  expect((await Promise.all(begun)).at(-1)?.highest).toBe(200_000);
});

describe('the handler of a group', () => {
  const PAUSE = { first: 100, longest: 100 };

  it('has one key for all attempts at one life of its group, which its members know, and another one for the next', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    const members: (string | undefined)[] = [];
    const keys: string[] = [];
    const own: string[] = [];
    node.tasks.handlers.handle('import', ({ key, member }) => {
      members.push(member?.groupKey);
      own.push(key);
    });
    const finish = ({ key }: GroupContext) => {
      keys.push(key);
      if (keys.length % 2 === 1) throw new Error('crash after the effect');
    };
    node.tasks.handlers.onGroupFinished('import', finish, { backoff: PAUSE });
    node.tasks.handlers.start();
    for (let night = 1; night <= 2; night++) {
      for (const number of [1, 2]) await node.tasks.submit(grouped('import', 'nightly', number, 2));
      await cluster.time.advance(2000);
      expect(keys).toHaveLength(2 * night);
    }
    const [first, again, second, last] = keys;
    expect([again, last]).toEqual([first, second]);
    expect(first).not.toBe(second);
    expect(members).toEqual([first, first, second, second]);
    expect(new Set(own).size).toBe(4);
  });

  it('has limits of its own, whatever those of the members are', async () => {
    const cluster = newCluster();
    const calls: Record<string, number> = {};
    const node = cluster.node();
    node.tasks.handlers.handle('import', () => undefined, { concurrency: 1 });
    const finish = ({ group }: GroupContext) => {
      calls[group] = (calls[group] ?? 0) + 1;
      throw new Error('no mail server');
    };
    const limits = { maxAttempts: 3, backoff: PAUSE, deadLetterRetention: '2m' };
    node.tasks.handlers.onGroupFinished('import', finish, limits);
    node.tasks.handlers.start();
    for (const [group, tries] of [
      ['often', [3, 9]],
      ['once', [9, 1]],
    ] as const) {
      for (const [index, maxAttempts] of tries.entries()) {
        await node.tasks.submit(grouped('import', group, index + 1, 2), 1, { maxAttempts, deadLetterRetention: '9d' });
      }
    }
    await cluster.time.advance(5000);
    expect(calls).toEqual({ often: 3, once: 3 });
    expect(await node.tasks.find('import[once]#join')).toMatchObject({ state: 'failed', attempts: 3 });
    await cluster.time.advance(3 * 60_000);
    expect(await node.tasks.find('import[once]#join')).toBeUndefined();
  });

  it.each([{ maxAttempts: 0 }, { retention: '1s' }, { priority: 'high' }])('refuses limits: %p', (options) => {
    const { handlers } = newCluster().node().tasks;
    const add = () => handlers.onGroupFinished('import', () => undefined, options as object);
    expect(add).toThrow(expect.objectContaining({ code: 'invalid-options' }));
  });
});
