import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { grouped, single, wholeGroup } from '../../lib/tasks/index.js';
import { refused } from '../support/refused.js';
import { interceptWrites } from '../support/writes.js';
import { factory } from './after-nodes.js';
import { SWEPT, type TaskCluster, type TaskNode, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const HOUR = 3_600_000;
const REPORT = single('report', 'june');
const AFTER = { after: [wholeGroup('import', 'june')] } as const;

/** The submission writes the root of the group, and the store is away when it comes to the task itself. */
async function failToSubmit({ tasks, driver }: TaskNode, total?: number): Promise<void> {
  const end = interceptWrites(driver.tasks, 'create', () => Promise.reject(new StoreUnavailableError('away')));
  await expect(tasks.submit(grouped('import', 'june', 1, total))).rejects.toThrow('away');
  end();
}

/** Nothing runs for so long. */
async function pass(cluster: TaskCluster, hours: number): Promise<void> {
  cluster.time.freeze(hours * HOUR);
  await cluster.time.advance(SWEPT);
}

describe('a group whose first submission failed, and was not repeated', () => {
  it.each([
    ['ends as cancelled after a day, and so does a task that waits for it', undefined, 'cancelled', []],
    ['does not hold a task for longer that runs also after a failure', 'run', 'completed', ['report:june']],
  ] as const)('%s', async (_, afterFailed, state, ran) => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    const log: string[] = [];
    await failToSubmit(cluster.node(), 3);
    await tasks.submit(REPORT, undefined, { ...AFTER, ...(afterFailed && { afterFailed }) });
    await pass(cluster, 23);
    expect(await tasks.find(REPORT)).toMatchObject({ state: 'blocked' });
    await pass(cluster, 1);
    factory(cluster, log);
    await cluster.time.advance(SWEPT);
    expect(await tasks.find(REPORT)).toMatchObject({ state });
    expect(log).toEqual(ran);
  });

  it('is named by explain() of a task that waits for it', async () => {
    const node = newCluster().node();
    await failToSubmit(node, 3);
    await node.tasks.submit(REPORT, undefined, AFTER);
    const missing = '; no member of "import[june]" is in the store: submit it again';
    expect((await node.tasks.explain(REPORT)).sentence).toContain(missing);
    await node.tasks.submit(grouped('import', 'june', 2, 3));
    expect((await node.tasks.explain(REPORT)).sentence).not.toContain('is in the store');
  });

  it('goes on with a submission within half a day, and its total stays', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = cluster.node();
    await failToSubmit(node, 2);
    await node.tasks.submit(REPORT, undefined, AFTER);
    await pass(cluster, 11);
    await expect(node.tasks.submit(grouped('import', 'june', 1, 3))).rejects.toThrow(refused('total'));
    for (const number of [1, 2]) await node.tasks.submit(grouped('import', 'june', number));
    factory(cluster, log);
    await cluster.time.advance(SWEPT);
    expect(log.slice(2)).toEqual(['end of import june', 'report:june']);
  });

  it('begins anew with a submission after half a day, also with another total', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = cluster.node();
    await failToSubmit(node, 2);
    await node.tasks.submit(REPORT, undefined, AFTER);
    await pass(cluster, 13);
    await node.tasks.submit(grouped('import', 'june', 1, 1));
    expect(await node.tasks.find(REPORT)).toMatchObject({ state: 'cancelled' });
    factory(cluster, log);
    await cluster.time.advance(SWEPT);
    expect(log).toEqual(['import[june]#1', 'end of import june']);
  });

  it('leaves no stop that looks for members for ever', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await failToSubmit(node, 3);
    expect(await node.tasks.cancelGroup('import', 'june')).toMatchObject({ outcome: 'cancelled' });
    await pass(cluster, 25);
    factory(cluster, []);
    await cluster.time.advance(SWEPT);
    expect((await cluster.texts()).filter((text) => text.startsWith('s|'))).toEqual([]);
    const { groups } = await node.tasks.open();
    expect((await groups.page('import', 'june', 1, 10))!.group).toMatchObject({ state: 'closed', ended: 0 });
  });
});

describe('a group that has a member', () => {
  it.each([1, 900])('number %i stays open, however long it takes', async (number) => {
    const cluster = newCluster();
    const log: string[] = [];
    const { tasks } = cluster.node();
    await tasks.submit(grouped('import', 'june', number, 900));
    await tasks.submit(REPORT, undefined, AFTER);
    await pass(cluster, 100);
    factory(cluster, log);
    await cluster.time.advance(SWEPT);
    expect(log).toEqual([`import[june]#${number}`]);
    await tasks.submit(grouped('import', 'june', 2));
    await cluster.time.advance(SWEPT);
    const { groups } = await tasks.open();
    expect((await groups.page('import', 'june', 1, 1))!.group).toMatchObject({ state: 'open', ended: 2 });
    expect(await tasks.find(REPORT)).toMatchObject({ state: 'blocked' });
  });
});
