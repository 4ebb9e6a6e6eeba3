import { RetryLaterError, type TaskView, single } from '../../lib/tasks/index.js';
import { LEASE, SWEPT, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'order-7');
const FAST = { backoff: { first: 1, longest: 1 } };

describe('the past attempts of a task', () => {
  const endsOf = (task: TaskView | undefined) => task?.pastAttempts?.map(({ error = 'crashed' }) => error);

  it('stay in it with node, time and error, also after an attempt succeeded', async () => {
    const cluster = newCluster();
    const node = worker(cluster, ({ attempt }) => {
      if (attempt === 1) throw new TypeError('no address');
      if (attempt === 2) throw new Error('x'.repeat(1000));
    });
    await node.tasks.submit(NAME, undefined, FAST);
    await cluster.time.advance(SWEPT);
    const task = await node.tasks.find(NAME);
    expect(task).toMatchObject({ state: 'completed' });
    expect(endsOf(task)).toEqual(['TypeError: no address', `Error: ${'x'.repeat(293)}`]);
    const [first, second] = task!.pastAttempts!;
    expect([first, second].map((attempt) => attempt?.instance)).toEqual(Array(2).fill(node.context.node.instance));
    expect(first!.endedAt).toBeGreaterThanOrEqual(task!.submittedAt);
    expect(second!.token).toBeGreaterThan(first!.token);
    expect(task!.token).toBeGreaterThan(second!.token);
  });

  it('have crashed ones among them, and not those that were put off', async () => {
    const cluster = newCluster();
    let calls = 0;
    const node = worker(
      cluster,
      () => {
        calls += 1;
        if (calls === 1) throw new RetryLaterError(1);
        return calls === 2 ? new Promise(() => undefined) : 'done';
      },
      false,
    );
    await node.tasks.submit(NAME);
    await cluster.time.advance(SWEPT + LEASE);
    const other = worker(cluster, () => 'done');
    await cluster.time.advance(SWEPT);
    expect(endsOf(await other.tasks.find(NAME))).toEqual(['crashed']);
  });

  it('are the last five, and none after the task was submitted anew', async () => {
    const cluster = newCluster();
    const node = worker(cluster, ({ attempt, data }) => {
      if (data !== 'good') throw new Error(`attempt ${attempt}`);
    });
    await node.tasks.submit(NAME, undefined, { ...FAST, maxAttempts: 8 });
    await cluster.time.advance(20 * SWEPT);
    expect(endsOf(await node.tasks.find(NAME))).toEqual([4, 5, 6, 7, 8].map((attempt) => `Error: attempt ${attempt}`));
    await node.tasks.submit(NAME, 'good');
    await cluster.time.advance(SWEPT);
    const task = await node.tasks.find(NAME);
    expect(task).toMatchObject({ state: 'completed' });
    expect(task).not.toHaveProperty('pastAttempts');
  });
});

it('an attempt of a task that was cancelled meanwhile is no failure, even if its node did not know', async () => {
  const cluster = newCluster();
  let fail: (error: Error) => void = () => undefined;
  const node = worker(cluster, () => new Promise((_, reject) => (fail = reject)), false);
  await node.tasks.submit(NAME);
  await cluster.time.advance(100);
  await cluster.node().tasks.cancel(NAME);
  fail(new Error('no address'));
  await cluster.time.advance(100);
  expect(node.of('task-ended')).toMatchObject([{ outcome: 'cancelled', isFailure: false }]);
});
