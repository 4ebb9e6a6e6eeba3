import { InvalidOptionsError, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { interceptWrites } from '../support/writes.js';
import { WAITS, importer, member, obey } from './importers.js';
import { SWEPT, loseAfter, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

describe('cancelGroup()', () => {
  it('ends what has not ended, with author and reason, and the handler of the group runs', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = importer(cluster, log, (task) => (task.data === 'long' ? obey(task) : 'done'));
    await node.tasks.submit(member(1, 3), 'short', WAITS);
    await cluster.time.advance(100);
    await node.tasks.submit(member(2, 3), 'long', WAITS);
    await node.tasks.submit(member(3, 3), 'short', WAITS);
    await cluster.time.advance(100);
    const answer = await node.tasks.cancelGroup('import', 'june', { by: 'ada', reason: 'the wrong files' });
    expect(answer).toEqual({
      id: 'import[june]',
      outcome: 'cancelled',
      because: 'all members that have not ended, end: cancelled by ada',
    });
    await cluster.time.advance(100);
    expect(log).toEqual(['import[june]#1', 'import[june]#2', 'june: 1 of 3, cancelled,completed']);
    expect((await node.tasks.find(member(2)))?.cancel).toMatchObject({ by: 'ada', reason: 'the wrong files' });
    expect(await node.tasks.cancelGroup('import', 'june')).toMatchObject({ outcome: 'ended' });
  });

  it('of a group that is not there changes nothing, and refuses bad input', async () => {
    const { tasks } = newCluster().node();
    expect(await tasks.cancelGroup('import', 'june')).toMatchObject({ outcome: 'unknown' });
    await expect(tasks.cancelGroup('im port', 'june')).rejects.toThrow(InvalidOptionsError);
    await expect(tasks.cancelGroup('import', '')).rejects.toThrow(InvalidOptionsError);
    await expect(tasks.cancelGroup('import', 'june', { why: 1 } as never)).rejects.toThrow(InvalidOptionsError);
  });

  it('is of unknown outcome if only the stop was noted before the store was lost: nothing must say that it was not made', async () => {
    const cluster = newCluster();
    const { tasks, driver } = cluster.node();
    await tasks.submit(member(1, 2), 1, WAITS);
    const refuse = () => Promise.reject(new StoreUnavailableError('simulated'));
    const end = interceptWrites(driver.groups, 'replace', refuse);
    await expect(tasks.cancelGroup('import', 'june', { by: 'ada' })).rejects.toThrow(UnknownOutcomeError);
    end();
    expect(await tasks.cancelGroup('import', 'june', { by: 'bob' })).toMatchObject({
      outcome: 'cancelled',
      because: expect.stringContaining('ada'),
    });
  });

  it('can be called again after a lost answer: the first author stays', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { tasks, driver } = cluster.node();
    for (const number of [1, 2]) await tasks.submit(member(number, 3), 1, WAITS);
    const { tasks: texts } = driver;
    const read = texts.read.bind(texts);
    const end = interceptWrites(texts, 'create', async (go) => {
      await go();
      texts.read = () => Promise.reject(new StoreUnavailableError('simulated'));
      throw new UnknownOutcomeError('simulated');
    });
    const lost = tasks.cancelGroup('import', 'june', { by: 'ada' }).catch((error: unknown) => error);
    await cluster.time.advance(10_000);
    expect(await lost).toBeInstanceOf(UnknownOutcomeError);
    end();
    texts.read = read;
    expect(await tasks.cancelGroup('import', 'june', { by: 'bob' })).toMatchObject({
      outcome: 'cancelled',
      because: expect.stringContaining('ada'),
    });
    await tasks.submit(member(3, 3), 1, WAITS);
    importer(cluster, log);
    await cluster.time.advance(2 * SWEPT);
    expect(log).toEqual(['june: 0 of 3, cancelled']);
  });
});

describe('a large group that is stopped', () => {
  it('ends page by page, and takes no member of the next incarnation', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { tasks } = cluster.node();
    const total = 2100;
    const all = Array.from({ length: total }, (_, index) => ({
      name: member(index + 1, index + 1 === total ? total : undefined),
      data: index,
      options: { ...WAITS, runAt: '1h' },
    }));
    await tasks.submitMany(all);
    const answer = tasks.cancelGroup('import', 'june');
    await cluster.time.advance(1000);
    expect((await answer).outcome).toBe('cancelled');
    expect((await tasks.find(member(1024)))?.state).toBe('cancelled');
    expect((await tasks.find(member(1025)))?.state).toBe('delayed');
    importer(cluster, log);
    await cluster.time.advance(SWEPT);
    expect(log).toEqual([`june: 0 of ${total}, cancelled`]);
  });

  it('whose total is not known ends also behind a gap in its numbers', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = importer(cluster, log, obey);
    await node.tasks.submit(member(5000), 1, { ...WAITS, runAt: '1h' });
    await node.tasks.cancelGroup('import', 'june');
    await cluster.time.advance(SWEPT);
    expect((await node.tasks.find(member(5000)))?.state).toBe('cancelled');
  });
});

describe('a node that is lost while it cancels a group', () => {
  it.each(Array.from({ length: 9 }, (_, index) => index + 1))(
    'after %i writes: the sweep of another node goes on',
    async (writes) => {
      const cluster = newCluster();
      const log: string[] = [];
      const lost = cluster.node();
      for (const number of [1, 2, 3]) await lost.tasks.submit(member(number, 3), 1, { ...WAITS, runAt: '1h' });
      const isLost = loseAfter(lost, writes);
      void lost.tasks.cancelGroup('import', 'june').catch(() => undefined);
      await cluster.time.advance(1000);
      expect(isLost()).toBe(true);
      importer(cluster, log);
      await cluster.time.advance(3 * SWEPT);
      expect(log).toEqual(['june: 0 of 3, cancelled']);
    },
  );
});
