import { InvalidTaskError, grouped, single, wholeGroup } from '../../lib/tasks/index.js';
import { openEnd } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { factory } from './after-nodes.js';
import { LEASE, SWEPT, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const IMPORT = single('import', 'june');
const REPORT = single('report', 'june');

describe('a task with `after`', () => {
  it('starts when the other one has ended', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const { work, end } = openEnd();
    const node = factory(cluster, log, work);
    await node.tasks.submit(IMPORT);
    expect(await node.tasks.submit(REPORT, undefined, { after: [IMPORT] })).toMatchObject({ outcome: 'created' });
    await cluster.time.advance(3 * LEASE);
    expect(log).toEqual([]);
    end();
    // No sweep is needed for it.
    await cluster.time.advance(100);
    expect(log).toEqual(['import:june', 'report:june']);
  });

  it('starts after all of several, which may wait for one another', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const submitter = cluster.node();
    await submitter.tasks.submit(IMPORT);
    for (const name of ['a', 'b']) await submitter.tasks.submit(single('mail', name), undefined, { after: [IMPORT] });
    await submitter.tasks.submit(REPORT, undefined, { after: ['mail:a', single('mail', 'b'), 'import:june'] });
    factory(cluster, log);
    await cluster.time.advance(1000);
    expect([log[0], log.slice(1, 3).toSorted(), log.slice(3)]).toEqual([
      'import:june',
      ['mail:a', 'mail:b'],
      ['report:june'],
    ]);
  });

  it('runs at once after one that has ended and is remembered', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log);
    await node.tasks.submit(IMPORT);
    await cluster.time.advance(1000);
    await node.tasks.submit(REPORT, undefined, { after: [IMPORT] });
    expect(await node.tasks.find(REPORT)).not.toHaveProperty('after');
    await cluster.time.advance(100);
    expect(log).toEqual(['import:june', 'report:june']);
  });

  it('waits for its time, too', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log);
    await node.tasks.submit(IMPORT, undefined, { runAt: '1m' });
    await node.tasks.submit(REPORT, undefined, { after: [IMPORT], runAt: '2m' });
    await node.tasks.submit(single('mail', 'a'), undefined, { after: [IMPORT], runAt: '10s' });
    expect(await node.tasks.find(REPORT)).toMatchObject({ state: 'blocked', runAt: expect.any(Number) });
    await cluster.time.advance(63_000);
    expect(log).toEqual(['import:june', 'mail:a']);
    expect(await node.tasks.find(REPORT)).toMatchObject({ state: 'delayed' });
    await cluster.time.advance(60_000);
    expect(log).toEqual(['import:june', 'mail:a', 'report:june']);
  });

  it('waits for the sub-tasks of the other one', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log, ({ submit }) => submit(single('mail', 'part'), undefined, { runAt: '10s' }));
    await node.tasks.submit(IMPORT);
    await node.tasks.submit(REPORT, undefined, { after: [IMPORT] });
    await cluster.time.advance(15_000);
    expect(log).toEqual(['import:june', expect.stringMatching(/^mail:.*part$/), 'report:june']);
  });

  it('waits for the life of the other one that there was at its submission', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const ends = [openEnd(), openEnd()];
    let runs = 0;
    const node = factory(cluster, log, () => ends[runs++]!.work());
    await node.tasks.submit(IMPORT);
    await node.tasks.submit(REPORT, undefined, { after: [IMPORT], runAt: '1m' });
    ends[0]!.end();
    await cluster.time.advance(1000);
    await node.tasks.submit(IMPORT);
    await cluster.time.advance(62_000);
    expect(log).toEqual(['import:june', 'report:june']);
    ends[1]!.end();
  });

  it('costs next to nothing while it waits for long', async () => {
    const cluster = newCluster();
    const node = factory(cluster, []);
    await node.tasks.submit(IMPORT, undefined, { runAt: '2d' });
    await node.tasks.submit(REPORT, undefined, { after: [IMPORT] });
    let writes = 0;
    interceptWrites(node.driver.tasks, 'replace', (go) => (writes++, go()));
    await cluster.time.advance(20 * 60_000);
    expect(writes).toBeGreaterThan(5);
    expect(writes).toBeLessThan(12);
  });
});

describe('a group', () => {
  it('is awaited with its handler, and may wait for another group', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const submitter = cluster.node();
    for (const number of [1, 2]) await submitter.tasks.submit(grouped('import', 'june', number, 2));
    const after = [wholeGroup('import', 'june')];
    for (const number of [1, 2]) await submitter.tasks.submit(grouped('report', 'june', number, 2), number, { after });
    factory(cluster, log);
    await cluster.time.advance(1000);
    expect(log.slice(0, 2).toSorted()).toEqual(['import[june]#1', 'import[june]#2']);
    expect(log[2]).toBe('end of import june');
    expect(log.slice(3, 5).toSorted()).toEqual(['report[june]#1', 'report[june]#2']);
    expect(log[5]).toBe('end of report june');
  });

  it('that is submitted again is another one', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log);
    await node.tasks.submit(grouped('import', 'june', 1, 1));
    await node.tasks.submit(REPORT, undefined, { after: ['import[june]'] });
    await cluster.time.advance(1000);
    await node.tasks.submit(grouped('import', 'june', 1, 2));
    await node.tasks.submit(REPORT, undefined, { after: ['import[june]'] });
    await cluster.time.advance(SWEPT);
    const first = ['import[june]#1', 'end of import june', 'report:june'];
    expect(log).toEqual([...first, 'import[june]#1']);
    await node.tasks.submit(grouped('import', 'june', 2, 2));
    await cluster.time.advance(100);
    expect(log.slice(4)).toEqual(['import[june]#2', 'end of import june', 'report:june']);
  });

  it('of sub-tasks is awaited by another sub-task', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log);
    node.tasks.handlers.handle('month', async ({ submit }) => {
      await submit(grouped('import', 'all', 1, 1), undefined, { runAt: '1s' });
      await submit(single('mail', 'b'), undefined, { after: [wholeGroup('import', 'all')] });
      await submit(single('mail', 'a'), undefined, { after: [single('mail', 'b')] });
    });
    await node.tasks.submit(single('month', 'june'));
    await cluster.time.advance(5000);
    expect(log.map((line) => line.replace(/\^.*\//, ''))).toEqual([
      'import[all]#1',
      'end of import all',
      'mail:b',
      'mail:a',
    ]);
    expect(await node.tasks.find('month:june')).toMatchObject({ subTasks: { total: 3, failed: 0 } });
  });
});

describe('a task whose other one does not complete', () => {
  const fail = () => {
    throw new InvalidTaskError('no such file');
  };

  it('is cancelled at once, and so are those after it', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log, fail);
    await node.tasks.submit(IMPORT, undefined, { runAt: '1s' });
    await node.tasks.submit(single('import', 'never'), undefined, { runAt: '1h' });
    await node.tasks.submit(REPORT, undefined, { after: ['import:never', IMPORT] });
    await node.tasks.submit(single('mail', 'a'), undefined, { after: [REPORT] });
    await node.tasks.submit(single('mail', 'b'), undefined, { after: [REPORT], afterFailed: 'run' });
    await cluster.time.advance(5000);
    expect(log).toEqual(['mail:b']);
    expect(await node.tasks.find(REPORT)).toMatchObject({
      state: 'cancelled',
      lastError: { message: 'it was to run after import:june, which ended as invalid' },
    });
    expect((await node.tasks.explain('mail:a')).sentence).toMatch(/report:june, .*ended.*cancelled/);
  });

  it('is cancelled also if the other one had failed before', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log, fail);
    await node.tasks.submit(IMPORT);
    await cluster.time.advance(100);
    await node.tasks.submit(REPORT, undefined, { after: [IMPORT] });
    expect(await node.tasks.find(REPORT)).toMatchObject({ state: 'cancelled' });
    await node.tasks.submit(REPORT, undefined, { after: [IMPORT], afterFailed: 'run' });
    await cluster.time.advance(100);
    expect(log).toEqual(['report:june']);
  });

  it('is cancelled if the other one had failed before, and is tried again by hand at that moment', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await node.tasks.submit(IMPORT);
    await node.tasks.cancel(IMPORT);
    // Between the look at the other one and the look after the write.
    interceptWrites(node.driver.tasks, 'create', async (go, { key }) => {
      const isWritten = await go();
      if (key === REPORT.id) await node.tasks.retry(IMPORT);
      return isWritten;
    });
    await node.tasks.submit(REPORT, undefined, { after: [IMPORT] });
    expect(await node.tasks.find(IMPORT)).toMatchObject({ state: 'waiting' });
    expect(await node.tasks.find(REPORT)).toMatchObject({ state: 'cancelled' });
  });

  it('counts as failed in its group, and can be retried by hand', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log, fail);
    await node.tasks.submit(IMPORT, undefined, { runAt: '1s' });
    await node.tasks.submit(grouped('report', 'june', 1, 1), undefined, { after: [IMPORT] });
    await cluster.time.advance(5000);
    expect(log).toEqual(['end of report june']);
    expect(await node.tasks.retry('report[june]#1')).toMatchObject({ outcome: 'retried' });
    await cluster.time.advance(100);
    expect(log).toEqual(['end of report june', 'report[june]#1']);
  });

  it('depends for a group on its handler only', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log, fail);
    node.tasks.handlers.handle('data', fail, { lease: LEASE });
    node.tasks.handlers.onGroupFinished('data', fail, { lease: LEASE });
    for (const type of ['import', 'data']) {
      await node.tasks.submit(grouped(type, 'june', 1, 1), undefined, { runAt: '1s' });
      await node.tasks.submit(single('mail', type), undefined, { after: [wholeGroup(type, 'june')] });
    }
    await cluster.time.advance(5000);
    expect(log).toEqual(['end of import june', 'mail:import']);
    expect(await node.tasks.find('mail:data')).toMatchObject({ state: 'cancelled' });
  });
});

describe('a blocked task by hand', () => {
  it('is explained, found, cancelled and not retried', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await node.tasks.submit(IMPORT);
    await node.tasks.submit(single('import', 'july'));
    await node.tasks.submit(REPORT, undefined, { after: [IMPORT, 'import:july'] });
    await node.tasks.submit(single('mail', 'a'), undefined, { after: [REPORT], afterFailed: 'run' });
    const after = ['import:june', 'import:july'];
    const sentence = 'it waits for the end of "import:june" and 1 others; if one does not complete, it is cancelled';
    expect(await node.tasks.explain(REPORT)).toMatchObject({ reason: 'after', after, sentence });
    expect((await node.tasks.explain('mail:a')).sentence).toContain('it runs also if one fails');
    expect(await node.tasks.find(REPORT)).toMatchObject({ state: 'blocked', after });
    expect(await node.tasks.retry(REPORT)).toMatchObject({ outcome: 'refused' });
    expect(await node.tasks.cancel(REPORT)).toMatchObject({ outcome: 'cancelled' });
    const log: string[] = [];
    factory(cluster, log);
    await cluster.time.advance(SWEPT);
    expect(log.toSorted()).toEqual(['import:july', 'import:june', 'mail:a']);
    expect(await node.tasks.retry(REPORT)).toMatchObject({ outcome: 'retried' });
  });

  it('is known when it is submitted again, also if the other one is not remembered any more', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await node.tasks.submit(IMPORT);
    const options = { after: [IMPORT] };
    await node.tasks.submit(REPORT, undefined, options);
    expect(await node.tasks.submit(REPORT, undefined, options)).toMatchObject({
      outcome: 'known',
      because: 'it waits for the end of others',
    });
    const member = grouped('report', 'june', 1, 2);
    await node.tasks.submit(member, undefined, options);
    expect(await node.tasks.submit(member, undefined, { after: ['import:gone'] })).toMatchObject({ outcome: 'known' });
  });
});
