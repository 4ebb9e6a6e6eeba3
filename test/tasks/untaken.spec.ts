import { pause } from '../../lib/core/async/pause.js';
import { grouped, single } from '../../lib/tasks/index.js';
import { SWEPT, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const MINUTE = 60_000;

describe('a warning of tasks that no node takes', () => {
  it('names the type, once', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => undefined);
    await node.tasks.submit(single('mial', 'typing error'));
    await cluster.time.advance(MINUTE);
    expect(node.of('tasks-untaken')).toEqual([]);
    await cluster.time.advance(SWEPT + 2 * MINUTE);
    expect(node.of('tasks-untaken')).toEqual([
      expect.objectContaining({
        task: 'mial',
        sentence: expect.stringMatching(/^tasks of type "mial" wait, and no node/),
      }),
    ]);
  });

  it('names a group that waits for a handler', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => undefined);
    await node.tasks.submit(grouped('mail', 'june', 1, 1));
    await cluster.time.advance(SWEPT + 2 * MINUTE);
    expect(node.of('tasks-untaken').map(({ sentence }) => sentence)).toEqual([
      expect.stringMatching(/^groups of type "mail" wait for their handler/),
    ]);
  });

  it('does not come while nodes take one after another, however many wait', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => pause(cluster.time, 20_000));
    for (let index = 0; index < 20; index++) await node.tasks.submit(single('mail', `${index}`));
    await cluster.time.advance(5 * MINUTE);
    expect(node.of('tasks-untaken')).toEqual([]);
    expect(node.of('task-ended').length).toBeGreaterThan(10);
  });

  it('comes again when the queue moved on and stopped again', async () => {
    const cluster = newCluster();
    const submitter = worker(cluster, () => undefined);
    await submitter.tasks.submit(single('print', 'first'));
    await cluster.time.advance(SWEPT + 2 * MINUTE);
    const other = cluster.node();
    other.tasks.handlers.handle('print', () => undefined, { concurrency: 1 });
    other.tasks.handlers.start();
    await cluster.time.advance(SWEPT);
    await other.tasks.handlers.close();
    await submitter.tasks.submit(single('print', 'second'));
    await cluster.time.advance(SWEPT + 2 * MINUTE);
    expect(submitter.of('tasks-untaken')).toHaveLength(2);
  });
});
