import { StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { single } from '../../lib/tasks/index.js';
import { interceptWrites } from '../support/writes.js';
import { LEASE, type TaskNode, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'x');

/**
 * The store applies the next change of a task and answers that it did not, as after a repetition by its client. Then no task can
 * be read for a while.
 */
function refuseWrongly({ driver, context }: TaskNode, outage: number): void {
  const { tasks } = driver;
  const read = tasks.read.bind(tasks);
  const letThrough = interceptWrites(tasks, 'replace', async (go) => {
    await go();
    letThrough();
    tasks.read = () => Promise.reject(new StoreUnavailableError('away'));
    context.nodeClock.schedule(() => void (tasks.read = read), outage);
    return false;
  });
}

describe('a store that refuses a write which it applied, and then can not be read', () => {
  it('has claimed the task for this node, which runs it: that counts as no crash', async () => {
    const cluster = newCluster();
    const ran: string[] = [];
    const node = worker(cluster, ({ id }) => void ran.push(id));
    refuseWrongly(node, 3000);
    await node.tasks.submit(NAME, undefined, { maxCrashes: 1 });
    await cluster.time.advance(LEASE / 2);
    expect(ran).toEqual(['mail:x']);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'completed', crashes: 0 });
  });

  it('leaves it unknown whether a task was cancelled', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await node.tasks.submit(NAME, undefined, { runAt: '1h' });
    refuseWrongly(node, LEASE);
    const failed = node.tasks.cancel(NAME).catch((error: unknown) => error);
    await cluster.time.advance(2 * LEASE);
    expect(await failed).toBeInstanceOf(UnknownOutcomeError);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'cancelled' });
  });
});

it('a submission ends in a transaction that writes nothing, and shows nothing of what is there', async () => {
  const cluster = newCluster();
  const { tasks, driver } = cluster.node();
  let writes = 0;
  driver.within = () => ({
    read: async () => undefined,
    compareAndSet: async () => (writes++, false),
    offer: async () => undefined,
  });
  await expect(
    tasks.submit(single('mail', 'x'), undefined, { tx: { query: async () => ({ rows: [] }) } }),
  ).rejects.toBeInstanceOf(StoreUnavailableError);
  expect(writes).toBe(5);
});
