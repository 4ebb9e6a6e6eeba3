import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { grouped, single, wholeGroup } from '../../lib/tasks/index.js';
import { interceptWrites } from '../support/writes.js';
import { factory } from './after-nodes.js';
import { LEASE, SWEPT, type TaskNode, loseAfter, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const SHORT = { retention: '5m', deadLetterRetention: '5m', backoff: { first: 100, longest: 100 } } as const;
const IMPORT = single('import', 'june');
const REPORT = single('report', 'june');
const CYCLE = 'can only end after this task: both would wait for ever';

describe('what a task can not wait for', () => {
  const submit = async (after: unknown, name = REPORT) => {
    const { tasks } = newCluster().node();
    return tasks.submit(name, undefined, { after } as never);
  };

  it.each([
    ['import:june', 'after: "import:june" is not a list of tasks'],
    [[''], 'after.0: "" is neither an id nor a name: make it with single(), grouped() or wholeGroup()'],
    [[{}], 'after.0: '],
    [
      [IMPORT],
      '"import:june" is not in the store: it was not submitted, or it is no longer remembered. Submit it first',
    ],
    [[wholeGroup('import', 'june')], '"import[june]" is not in'],
    [[REPORT], '"report:june" is this task itself'],
    ['x'.repeat(101).split(''), 'more than 100 tasks: wait for a group'],
  ])('is %j', async (after, message) => {
    await expect(submit(after)).rejects.toThrow(message);
    await expect(submit(after)).rejects.toBeInstanceOf(InvalidOptionsError);
  });

  it('makes no record of a group', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    await expect(tasks.submit(grouped('report', 'june', 1, 1), undefined, { after: [IMPORT] })).rejects.toThrow(
      'not in',
    );
    await expect(tasks.submit(REPORT, undefined, { afterFailed: 'no' } as never)).rejects.toThrow('afterFailed');
    expect(await cluster.texts()).toEqual([]);
  });

  it('leaves no note in those that are there', async () => {
    const { tasks, store } = newCluster().node();
    await tasks.submit(IMPORT);
    await tasks.submit(grouped('import', 'all', 1, 1));
    const after = [IMPORT, wholeGroup('import', 'all'), 'import:misspelt'];
    await expect(tasks.submit(REPORT, undefined, { after })).rejects.toMatchObject({
      code: 'invalid-options',
      faults: [expect.stringContaining('"import:misspelt"')],
    });
    expect((await store.find('import:june'))?.dependents).toBeUndefined();
    expect((await store.groups.latest('import', 'all'))?.dependents).toBeUndefined();
  });

  it('is its own group, or one that waits for it', async () => {
    const { tasks } = newCluster().node();
    const june = wholeGroup('import', 'june');
    await tasks.submit(grouped('import', 'june', 1));
    const self = tasks.submit(grouped('import', 'june', 2), undefined, { after: [june] });
    await expect(self).rejects.toThrow(`"import[june]" ${CYCLE}`);
    await tasks.submit(grouped('report', 'june', 1), undefined, { after: [june] });
    await tasks.submit(single('mail', 'a'), undefined, { after: [wholeGroup('report', 'june')] });
    for (const other of [wholeGroup('report', 'june'), single('mail', 'a')]) {
      const next = tasks.submit(grouped('import', 'june', 3), undefined, { after: [other] });
      await expect(next).rejects.toThrow(CYCLE);
    }
    expect(await tasks.submit(grouped('import', 'june', 4), undefined, { after: ['import[june]#1'] })).toMatchObject({
      outcome: 'created',
    });
  });

  it('is the parent of a sub-task, or a task that waits for the parent', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = factory(cluster, log, async ({ submit: submitSub, id }) => {
      for (const awaited of [id, 'report:june', 'import[all]', 'mail:after all'])
        await submitSub(single('mail', 'x'), undefined, { after: [awaited] }).catch((error: Error) =>
          log.push(error.message.includes(CYCLE) ? awaited : error.message),
        );
    });
    node.tasks.handlers.pauseType('import');
    await node.tasks.submit(grouped('import', 'all', 1, 1));
    await node.tasks.submit(REPORT, undefined, { after: ['import[all]#1'] });
    await node.tasks.submit(single('mail', 'after all'), undefined, { after: ['import[all]'] });
    node.tasks.handlers.resumeType('import');
    await cluster.time.advance(1000);
    expect(log.slice(0, 4)).toEqual(['import[all]#1', 'report:june', 'import[all]', 'mail:after all']);
  });

  it('has more than 1,000 others that wait for it', async () => {
    const { tasks } = newCluster().node();
    await tasks.submit(IMPORT);
    for (let index = 0; index < 1000; index++)
      await tasks.submit(single('mail', `${index}`), undefined, { after: [IMPORT] });
    await expect(tasks.submit(REPORT, undefined, { after: [IMPORT] })).rejects.toThrow(
      '1000 tasks wait for "import:june" already: let one task wait for it, and submit the others in its handler',
    );
    // One that has ended meanwhile takes no room.
    await tasks.cancel('mail:7');
    expect(await tasks.submit(REPORT, undefined, { after: [IMPORT] })).toMatchObject({ outcome: 'created' });
    await tasks.cancel(IMPORT);
    expect(await tasks.find(REPORT)).toMatchObject({ state: 'cancelled' });
  });
});

describe('a task after a group whose handler is tried again by hand', () => {
  const HANDLER = 'import[june]#join';

  /** A group whose handler has not begun. */
  async function joining(): Promise<{ node: TaskNode; other: TaskNode }> {
    const cluster = newCluster();
    const [node, other] = [cluster.node(), cluster.node()];
    await node.tasks.submit(grouped('import', 'june', 1, 1));
    await node.tasks.cancel('import[june]#1');
    return { node, other };
  }

  it('is cancelled: the group has ended, and not completed', async () => {
    const { node } = await joining();
    await node.tasks.cancel(HANDLER);
    expect(await node.tasks.retry(HANDLER)).toMatchObject({ outcome: 'retried' });
    await node.tasks.submit(REPORT, undefined, { after: [wholeGroup('import', 'june')] });
    expect(await node.tasks.find(REPORT)).toMatchObject({
      state: 'cancelled',
      lastError: { message: expect.stringMatching(/import\[june\], .*ended.*cancelled/) },
    });
  });

  it('is cancelled: no retry comes between the end of the group and those that wait for it', async () => {
    const { node, other } = await joining();
    await node.tasks.submit(REPORT, undefined, { after: [wholeGroup('import', 'june')] });
    const retried: string[] = [];
    interceptWrites(node.driver.groups, 'replace', async (go, { next }) => {
      const isWritten = await go();
      if (next!.includes('"state":"closed"')) retried.push((await other.tasks.retry(HANDLER)).because);
      return isWritten;
    });
    await node.tasks.cancel(HANDLER);
    expect(retried).toEqual(['its end is not noted everywhere yet: retry it in a few seconds']);
    expect(await node.tasks.find(REPORT)).toMatchObject({ state: 'cancelled' });
    expect(await other.tasks.retry(HANDLER)).toMatchObject({ outcome: 'retried' });
  });
});

describe('a node that is lost', () => {
  const GROUP = wholeGroup('import', 'june');

  /** A diamond: a group and a task, two after each of them, and a last one after all. */
  async function submitAll({ tasks }: TaskNode): Promise<void> {
    const options = { ...SHORT, maxCrashes: 100, dedup: 'retained' } as const;
    for (const number of [1, 2]) await tasks.submit(grouped('import', 'june', number, 2), number, options);
    await tasks.submit(single('mail', 'top'), undefined, options);
    for (const name of ['left', 'right'])
      await tasks.submit(single('mail', name), undefined, { ...options, after: [GROUP, 'mail:top'] });
    await tasks.submit(REPORT, undefined, { ...options, after: ['mail:left', 'mail:right'] });
  }

  function expectOrder(log: readonly string[]): void {
    for (const side of ['mail:left', 'mail:right']) {
      for (const first of ['mail:top', 'end of import june'])
        expect(log.indexOf(side)).toBeGreaterThan(log.indexOf(first));
      expect(log.indexOf('report:june')).toBeGreaterThan(log.indexOf(side));
    }
  }

  // Submitting needs 13 writes. A number that is not reached would test nothing.
  it.each(Array.from({ length: 13 }, (_, index) => index + 1))(
    'after %i writes of its submissions: they go on',
    async (writes) => {
      const cluster = newCluster();
      const log: string[] = [];
      const lost = cluster.node();
      const isLost = loseAfter(lost, writes);
      void submitAll(lost).catch(() => undefined);
      await cluster.time.advance(1000);
      expect(isLost()).toBe(true);
      const node = factory(cluster, log);
      await cluster.time.advance(1000);
      const submitted = submitAll(node);
      // The node works on the tasks meanwhile. Of two that change one record again and again, one pauses.
      await cluster.time.advance(1000);
      await submitted;
      await cluster.time.advance(2 * SWEPT);
      expect(new Set(log).size).toBe(log.length);
      expect(log).toHaveLength(7);
      expectOrder(log);
      await cluster.time.advance(600_000);
      expect(await cluster.texts()).toEqual([]);
    },
  );

  // Working on them needs more writes than that.
  it.each(Array.from({ length: 26 }, (_, index) => index + 1))(
    'after %i writes of its work: all run in order',
    async (writes) => {
      const cluster = newCluster();
      const log: string[] = [];
      await submitAll(cluster.node());
      const isLost = loseAfter(factory(cluster, log), writes);
      await cluster.time.advance(1000);
      expect(isLost()).toBe(true);
      factory(cluster, log);
      await cluster.time.advance(4 * (LEASE + SWEPT));
      expect(new Set(log).size).toBe(7);
      expectOrder(log);
      await cluster.time.advance(600_000);
      expect(await cluster.texts()).toEqual([]);
    },
  );
});
