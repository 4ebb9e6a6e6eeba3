import { InvalidOptionsError, StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import {
  type GroupContext,
  InvalidTaskError,
  RetryLaterError,
  TaskCancelledError,
  type TaskContext,
  grouped,
  single,
} from '../../lib/tasks/index.js';
import { decodeTask } from '../../lib/tasks/rules/task.codec.js';
import { openEnd } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { LEASE, SWEPT, type TaskCluster, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'order-7');

/** A node that works on {@link NAME} until the test ends the work, and the context of its handler. */
async function working(cluster: TaskCluster, keepAlive = true) {
  const { work, end } = openEnd<string>();
  const contexts: TaskContext[] = [];
  const node = worker(cluster, (task) => (contexts.push(task), work()), keepAlive);
  await node.tasks.submit(NAME);
  await cluster.time.advance(100);
  return { node, end, task: contexts[0]! };
}

/** A node that works on {@link NAME} until its signal aborts. */
async function obedient(cluster: TaskCluster) {
  const node = worker(
    cluster,
    ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error))),
  );
  await node.tasks.submit(NAME);
  await cluster.time.advance(100);
  return node;
}

describe('cancel() of a task that waits', () => {
  it('ends it at once, and no node runs it', async () => {
    const cluster = newCluster();
    const submitter = cluster.node();
    await submitter.tasks.submit(NAME, 'data');
    const answer = await submitter.tasks.cancel(NAME, { by: 'ada', reason: 'sent by hand' });
    expect(answer).toEqual({ id: 'mail:order-7', outcome: 'cancelled', because: 'no node worked on it' });
    const ran: string[] = [];
    worker(cluster, ({ id }) => void ran.push(id));
    await cluster.time.advance(2 * SWEPT);
    expect(ran).toEqual([]);
    expect(await submitter.tasks.find(NAME)).toMatchObject({
      state: 'cancelled',
      data: 'data',
      cancel: { by: 'ada', reason: 'sent by hand', at: expect.any(Number) },
    });
  });

  it('ends one that is delayed, or waits for its next attempt', async () => {
    const cluster = newCluster();
    let attempts = 0;
    const node = worker(cluster, () => {
      attempts++;
      throw new Error('no route to host');
    });
    await node.tasks.submit(single('mail', 'later'), undefined, { runAt: '1h' });
    await node.tasks.submit(NAME, undefined, { backoff: { first: '1h', longest: '1h' } });
    await cluster.time.advance(100);
    for (const id of ['mail:later', 'mail:order-7']) {
      expect(await node.tasks.cancel(id)).toMatchObject({ outcome: 'cancelled' });
    }
    await cluster.time.advance(3_700_000);
    expect(attempts).toBe(1);
    expect(await node.tasks.find(NAME)).toMatchObject({
      state: 'cancelled',
      lastError: { message: 'no route to host' },
      cancel: { by: 'app1' },
    });
  });

  it('counts as failed in its group, which then ends', async () => {
    const cluster = newCluster();
    const submitter = cluster.node();
    for (const number of [1, 2]) await submitter.tasks.submit(grouped('mail', 'june', number, 2), number);
    await submitter.tasks.cancel('mail[june]#2');
    const groups: unknown[] = [];
    const node = worker(cluster, ({ data }) => data);
    node.tasks.handlers.onGroupFinished('mail', async (group: GroupContext) => {
      for await (const { number, outcome } of group.members()) groups.push([number, outcome]);
      groups.push([group.completed, group.failed]);
    });
    await cluster.time.advance(1000);
    expect(groups).toEqual([
      [1, 'completed'],
      [2, 'cancelled'],
      [1, 1],
    ]);
  });

  it('can be the last end of its group', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    const failed: number[] = [];
    node.tasks.handlers.onGroupFinished('mail', (group) => void failed.push(group.failed));
    node.tasks.handlers.start();
    await node.tasks.submit(grouped('mail', 'june', 1, 1));
    await node.tasks.cancel('mail[june]#1');
    await cluster.time.advance(1000);
    expect(failed).toEqual([1]);
  });

  it('lets the same id be submitted again', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await node.tasks.submit(NAME);
    await node.tasks.cancel(NAME);
    expect(await node.tasks.submit(NAME)).toMatchObject({ outcome: 'created' });
    expect(await node.tasks.find(NAME)).not.toHaveProperty('cancel');
  });
});

describe('cancel() of a task that runs', () => {
  it('aborts the signal of its handler with the reason, at once on the same node', async () => {
    const cluster = newCluster();
    const { node, task, end } = await working(cluster);
    const answer = await node.tasks.cancel(NAME, { by: 'ada', reason: 'wrong address' });
    expect(answer).toMatchObject({ outcome: 'requested' });
    expect(task.signal.reason).toBeInstanceOf(TaskCancelledError);
    expect(task.signal.reason).toMatchObject({
      code: 'task-cancelled',
      by: 'ada',
      reason: 'wrong address',
      message: 'task "mail:order-7" was cancelled by ada: wrong address',
    });
    await expect(task.lease.renew()).rejects.toBeInstanceOf(TaskCancelledError);
    end('late');
  });

  it('aborts it on another node with the next renewal of the lease', async () => {
    const cluster = newCluster();
    const { task, end } = await working(cluster);
    await cluster.node().tasks.cancel(NAME, { reason: 'wrong address' });
    expect(task.signal.aborted).toBe(false);
    await cluster.time.advance(LEASE / 3);
    expect(task.signal.reason).toMatchObject({ by: 'app2', reason: 'wrong address' });
    end('late');
  });

  it('aborts it with lease.renew() if the lease is not kept alive', async () => {
    const cluster = newCluster();
    const { task, end } = await working(cluster, false);
    await cluster.node().tasks.cancel(NAME);
    await cluster.time.advance(LEASE / 2);
    expect(task.signal.aborted).toBe(false);
    await expect(task.lease.renew()).rejects.toBeInstanceOf(TaskCancelledError);
    expect(task.signal.aborted).toBe(true);
    end('late');
  });

  it.each([
    ['before its handler learns it', 0],
    ['after its signal has aborted', LEASE / 2],
  ])('refuses its result if that comes %s', async (_, wait) => {
    const cluster = newCluster();
    const { node, end } = await working(cluster);
    await cluster.node().tasks.cancel(NAME);
    await cluster.time.advance(wait);
    end('the result');
    await cluster.time.advance(100);
    const task = await node.tasks.find(NAME);
    expect(task).toMatchObject({ state: 'cancelled', attempts: 0, crashes: 0 });
    expect(task).not.toHaveProperty('result');
    expect(node.of('task-ended')).toMatchObject([{ outcome: 'cancelled' }]);
  });

  it('comes too late if its result was accepted', async () => {
    const cluster = newCluster();
    const { node, end } = await working(cluster);
    end('the result');
    await cluster.time.advance(100);
    const answer = await cluster.node().tasks.cancel(NAME);
    expect(answer).toMatchObject({ outcome: 'ended', because: 'it had ended before (completed)' });
    const task = await node.tasks.find(NAME);
    expect(task).toMatchObject({ state: 'completed', result: 'the result' });
    expect(task).not.toHaveProperty('cancel');
  });

  it('ends it when its handler ends with the signal, as no failed attempt', async () => {
    const cluster = newCluster();
    const node = await obedient(cluster);
    await node.tasks.cancel(NAME);
    await cluster.time.advance(100);
    const task = await node.tasks.find(NAME);
    expect(task).toMatchObject({ state: 'cancelled', attempts: 0 });
    expect(task).not.toHaveProperty('lastError');
  });

  it('ends it with its lease if its handler goes on', async () => {
    const cluster = newCluster();
    const { node, end } = await working(cluster, false);
    await cluster.node().tasks.cancel(NAME);
    await cluster.time.advance(LEASE + SWEPT);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'cancelled', crashes: 1 });
    end('late');
    await cluster.time.advance(100);
    expect(await node.tasks.find(NAME)).not.toHaveProperty('result');
  });

  it.each([
    ['fails', new Error('no route to host')],
    ['wants another attempt', new RetryLaterError(0)],
    ['finds it invalid', new InvalidTaskError('no such order')],
  ])('ends it if its handler %s before it learns it', async (_, error) => {
    const cluster = newCluster();
    const { node, end } = await working(cluster);
    await cluster.node().tasks.cancel(NAME);
    end(Promise.reject(error) as never);
    await cluster.time.advance(2 * SWEPT);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'cancelled' });
    expect(node.of('task-started')).toHaveLength(1);
  });

  it('ends it if its node shuts down before it learns it', async () => {
    const cluster = newCluster();
    const node = await obedient(cluster);
    const other = cluster.node();
    await other.tasks.cancel(NAME);
    const closing = node.tasks.handlers.close();
    await cluster.time.advance(5000);
    await closing;
    expect(await other.tasks.find(NAME)).toMatchObject({ state: 'cancelled' });
  });

  it('keeps its first reason', async () => {
    const cluster = newCluster();
    const { node, end } = await working(cluster);
    await node.tasks.cancel(NAME, { reason: 'first' });
    expect(await node.tasks.cancel(NAME, { reason: 'second' })).toMatchObject({ outcome: 'requested' });
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'running', cancel: { reason: 'first' } });
    end('late');
  });
});

describe('cancel()', () => {
  it('says that it knows no task, or that it was cancelled before', async () => {
    const node = newCluster().node();
    expect(await node.tasks.cancel(NAME)).toMatchObject({ id: 'mail:order-7', outcome: 'unknown' });
    await node.tasks.submit(NAME);
    await node.tasks.cancel(NAME);
    expect(await node.tasks.cancel(NAME)).toMatchObject({ outcome: 'ended', because: 'it was cancelled before' });
  });

  it('answers "cancelled" although the answer of its write was lost, and another node went on', async () => {
    const cluster = newCluster();
    const [node, other] = [cluster.node(), cluster.node()];
    await node.tasks.submit(grouped('mail', 'june', 1, 2));
    interceptWrites(node.driver.tasks, 'replace', async (go, { next }) => {
      await go();
      await other.store.settle(decodeTask(next!), next!);
      throw new UnknownOutcomeError('no answer');
    });
    const cancelling = node.tasks.cancel('mail[june]#1');
    await cluster.time.advance(1000);
    expect(await cancelling).toMatchObject({ outcome: 'cancelled' });
  });

  it('answers although its end can not be noted in its group now: the sweep does that later', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    const failed: number[] = [];
    node.tasks.handlers.onGroupFinished('mail', (group) => void failed.push(group.failed));
    await node.tasks.submit(grouped('mail', 'june', 1, 1));
    const { groups } = node.driver;
    const read = groups.read.bind(groups);
    groups.read = () => Promise.reject(new StoreUnavailableError('no answer'));
    expect(await node.tasks.cancel('mail[june]#1')).toMatchObject({ outcome: 'cancelled' });
    expect(node.of('problem')).toMatchObject([{ action: expect.stringContaining('mail[june]#1') }]);
    groups.read = read;
    node.tasks.handlers.start();
    await cluster.time.advance(SWEPT);
    expect(failed).toEqual([1]);
  });

  it('refuses options that can not be used, and changes nothing', async () => {
    const node = newCluster().node();
    await node.tasks.submit(NAME);
    for (const options of [{ reason: 'two\nlines' }, { by: '' }, { why: 'x' }]) {
      await expect(node.tasks.cancel(NAME, options)).rejects.toBeInstanceOf(InvalidOptionsError);
    }
    await expect(node.tasks.cancel(undefined as never)).rejects.toThrow('make it with single() or grouped()');
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'waiting' });
  });
});
