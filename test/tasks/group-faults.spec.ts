import { NewerRecordError, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { grouped } from '../../lib/tasks/index.js';
import { openEnd } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { LEASE, SHORT_GROUP, type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();

/** A node that handles `import` and the end of its groups; `joined` has the totals for which the group's handler was called. */
function importer(cluster: TaskCluster, work: () => unknown = () => 1): { node: TaskNode; joined: number[] } {
  const node = cluster.node();
  const joined: number[] = [];
  node.tasks.handlers.handle('import', work, { lease: LEASE });
  node.tasks.handlers.onGroupFinished('import', ({ total }) => void joined.push(total), {
    lease: LEASE,
    ...SHORT_GROUP,
  });
  node.tasks.handlers.start();
  return { node, joined };
}

describe("the handler of a group whose records can't be read", () => {
  /** The next reads of groups fail after the group's handler was claimed. */
  function failReads({ driver }: TaskNode, reads: number, error: Error): void {
    const { tasks, groups } = driver;
    let left = 0;
    const letThrough = interceptWrites(tasks, 'replace', (go, { key }) => {
      if (key.endsWith('#join')) {
        letThrough();
        left = reads;
      }
      return go();
    });
    for (const method of ['read', 'readMany'] as const) {
      const read = (groups[method] as (...args: unknown[]) => Promise<unknown>).bind(groups);
      Object.assign(groups, { [method]: (...args: unknown[]) => (left-- > 0 ? Promise.reject(error) : read(...args)) });
    }
  }

  it.each([
    ['can not be reached', 1, new StoreUnavailableError('away')],
    ['gives no clear answer for long', 40, new UnknownOutcomeError('no answer')],
    ['has a record of a newer version', 1, new NewerRecordError('root:import[june]')],
  ])('is called later if the store %s: that counts as no failure', async (_, reads, error) => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster);
    failReads(node, reads, error);
    await node.tasks.submit(grouped('import', 'june', 1, 1), undefined, { maxAttempts: 1 });
    await cluster.time.advance(10 * LEASE);
    expect(joined).toEqual([1]);
    expect(await node.tasks.find('import[june]#join')).toMatchObject({ state: 'completed', attempts: 0, crashes: 0 });
  });
});

it('a submission that stood still takes no member back to a former life of its group', async () => {
  const cluster = newCluster();
  const slow = cluster.node();
  const { node, joined } = importer(cluster);
  const { work: standStill, end: goOn } = openEnd();
  interceptWrites(slow.driver.tasks, 'create', async (go) => (await standStill(), go()));
  const submit = async () => {
    for (const number of [1, 2]) await node.tasks.submit(grouped('import', 'june', number, 2));
  };
  const late = slow.tasks.submit(grouped('import', 'june', 2, 2));
  await cluster.time.advance(100);
  await submit();
  await cluster.time.advance(700);
  expect(joined).toEqual([2]);
  node.tasks.handlers.pauseType('import');
  await submit();
  const { member } = (await node.store.find('import[june]#2'))!;
  goOn();
  await cluster.time.advance(100);
  expect(await late).toMatchObject({ outcome: 'known' });
  expect((await node.store.find('import[june]#2'))!.member).toEqual(member);
  node.tasks.handlers.resumeType('import');
  await cluster.time.advance(3 * LEASE);
  expect(joined).toEqual([2, 2]);
});

describe('a member whose group does not hear of its end', () => {
  /** Pages of groups can't be made for a while, from now on. */
  function refusePages({ driver }: TaskNode, cluster: TaskCluster, ms: number): void {
    const letThrough = interceptWrites(driver.groups, 'create', (go, { key }) =>
      key.startsWith('page:') ? Promise.reject(new StoreUnavailableError('away')) : go(),
    );
    cluster.time.schedule(letThrough, ms);
  }

  it('notes its last attempt once, however often the steps after it are tried', async () => {
    const cluster = newCluster();
    let ran = 0;
    const { node, joined } = importer(cluster, () => {
      if (++ran === 2) refusePages(node, cluster, 4000);
      throw new Error(`error ${ran}`);
    });
    await node.tasks.submit(grouped('import', 'june', 1, 1), undefined, { maxAttempts: 2 });
    await cluster.time.advance(3 * LEASE);
    const task = await node.tasks.find('import[june]#1');
    expect(task).toMatchObject({ state: 'failed', attempts: 2 });
    expect(task!.pastAttempts!.map(({ error }) => error)).toEqual(['Error: error 1', 'Error: error 2']);
    expect(joined).toEqual([1]);
  });

  it('keeps its result and the time of its end', async () => {
    const cluster = newCluster();
    const { node, joined } = importer(cluster, () => refusePages(node, cluster, 4000));
    await node.tasks.submit(grouped('import', 'june', 1, 1));
    await cluster.time.advance(1000);
    const { ending } = (await node.store.find('import[june]#1'))!;
    await cluster.time.advance(3 * LEASE);
    expect((await node.store.find('import[june]#1'))!.ending).toEqual(ending);
    expect(joined).toEqual([1]);
  });
});
