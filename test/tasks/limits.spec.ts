import { PermitLostError } from 'nestjs-gatekeeper';
import { type TaskFunction, grouped } from '../../lib/tasks/index.js';
import { openEnd, useCluster } from '../support/nodes.js';
import { removed } from '../support/removed.js';
import {
  DURATION,
  LIMIT,
  NOTICED,
  defineLimit,
  hintsAskedBy,
  limitedWorker,
  obstacleOf,
  permitsOf,
  slowWork,
  submitMails,
} from './limited-nodes.js';

const newCluster = useCluster();

describe('a type without a definition', () => {
  it('takes no permit, and asks for none', async () => {
    const cluster = newCluster();
    const node = await limitedWorker(cluster, () => 1);
    const before = { ...node.store.calls };
    await submitMails(node, 50);
    await cluster.time.advance(1000);
    expect(await node.gatekeeper.tasks.find('mail:49')).toHaveProperty('state', 'completed');
    const { now: _, ...asked } = before;
    expect(node.store.calls).toMatchObject(asked);
    expect(await cluster.raw.records.read(`semaphore:${LIMIT}`)).toBeUndefined();
  });

  it('asks once for one at its start', async () => {
    const cluster = newCluster();
    const node = await cluster.node({ definitions: [] });
    node.gatekeeper.tasks.handlers.handle('mail', () => 1);
    const keys: string[] = [];
    const read = node.store.records.read.bind(node.store.records);
    node.store.records.read = (key) => (keys.push(key), read(key));
    node.gatekeeper.tasks.handlers.start();
    await cluster.time.advance(60_000);
    expect(keys.filter((key) => key === `semaphore:${LIMIT}`)).toHaveLength(1);
  });
});

describe('permits of a type', () => {
  it('limit the attempts at the same time over all nodes', async () => {
    const cluster = newCluster();
    const { work, handler } = slowWork(cluster, 1500);
    const [node] = [
      await limitedWorker(cluster, handler),
      await limitedWorker(cluster, handler),
      await limitedWorker(cluster, handler),
    ];
    await defineLimit(node!, { permits: 2 });
    await submitMails(node!, 12);
    await cluster.time.advance(30_000);
    expect(work).toEqual({ running: 0, most: 2, done: 12 });
  });

  it('are given back by an idle node, which then asks for none', async () => {
    const cluster = newCluster();
    const node = await limitedWorker(cluster, () => 1);
    await defineLimit(node, { permits: 4 });
    await submitMails(node, 10);
    await cluster.time.advance(NOTICED);
    const { seq, permits } = await cluster.record(LIMIT);
    expect(permits).toEqual([]);
    await cluster.time.advance(60_000);
    expect((await cluster.record(LIMIT)).seq).toBe(seq);
  });

  it('serve many short attempts, one after another', async () => {
    const cluster = newCluster();
    const node = await limitedWorker(cluster, () => 1, { concurrency: 1 });
    await defineLimit(node);
    const { seq } = await cluster.record(LIMIT);
    await submitMails(node, 100);
    await cluster.time.advance(NOTICED);
    expect(await node.gatekeeper.tasks.find('mail:99')).toHaveProperty('state', 'completed');
    expect((await cluster.record(LIMIT)).seq - seq).toBeLessThan(10);
  });

  it('go to other nodes, too, while a node has work', async () => {
    const cluster = newCluster();
    const by: string[] = [];
    const { handler } = slowWork(cluster, 400);
    const named = (name: string) => async () => (by.push(name), handler());
    const first = await limitedWorker(cluster, named('first'), { concurrency: 2 });
    await defineLimit(first, { permits: 2 });
    await submitMails(first, 60);
    await cluster.time.advance(1000);
    await limitedWorker(cluster, named('second'), { concurrency: 2 });
    await cluster.time.advance(30_000);
    expect(by).toHaveLength(60);
    expect(by).toContain('second');
  });

  it('are kept while an attempt runs', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd();
    const node = await limitedWorker(cluster, work);
    await defineLimit(node);
    await submitMails(node, 1);
    await cluster.time.advance(5 * DURATION);
    expect(await permitsOf(cluster)).toHaveLength(1);
    end();
    await cluster.time.advance(1000);
    expect(await permitsOf(cluster)).toEqual([]);
  });

  it('count the handlers of groups', async () => {
    const cluster = newCluster();
    const { work, handler } = slowWork(cluster, 1500);
    const node = await limitedWorker(cluster, handler);
    node.gatekeeper.tasks.handlers.onGroupFinished('mail', handler);
    await defineLimit(node);
    for (const group of ['a', 'b', 'c']) await node.gatekeeper.tasks.submit(grouped('mail', group, 1, 1));
    await cluster.time.advance(30_000);
    expect(work).toEqual({ running: 0, most: 1, done: 6 });
  });

  it('that are lost abort the attempt, and its task goes back', async () => {
    const cluster = newCluster();
    const reasons: unknown[] = [];
    const handler: TaskFunction = ({ signal }) =>
      new Promise((resolve, reject) => {
        if (reasons.length > 0) return resolve('later');
        signal.addEventListener('abort', () => reject((reasons.push(signal.reason), signal.reason) as Error));
      });
    const node = await limitedWorker(cluster, handler);
    await defineLimit(node);
    await submitMails(node, 1);
    await cluster.time.advance(1000);
    const [permit] = await permitsOf(cluster);
    await node.gatekeeper.definitions.revoke(LIMIT, permit!.id);
    await cluster.time.advance(NOTICED);
    expect(reasons).toEqual([expect.any(PermitLostError)]);
    expect(await node.gatekeeper.tasks.find('mail:0')).toMatchObject({
      attempts: 0,
      crashes: 0,
      state: 'completed',
      result: 'later',
    });
  });

  it('are needed no more after a removal: the attempts go on', async () => {
    const cluster = newCluster();
    const { work, end } = openEnd<string>();
    const aborted: unknown[] = [];
    const node = await limitedWorker(cluster, (task) => {
      if (task.id !== 'mail:0') return 'at once';
      task.signal.addEventListener('abort', () => aborted.push(task.signal.reason));
      return work();
    });
    await defineLimit(node);
    await submitMails(node, 2);
    await cluster.time.advance(1000);
    await node.gatekeeper.definitions.remove(LIMIT);
    await cluster.time.advance(NOTICED);
    expect(await node.gatekeeper.tasks.find('mail:1')).toHaveProperty('result', 'at once');
    expect(aborted).toEqual([]);
    end('in time');
    await cluster.time.advance(1000);
    expect(await node.gatekeeper.tasks.find('mail:0')).toHaveProperty('result', 'in time');
  });

  it('can be declared by code', async () => {
    const cluster = newCluster();
    const { work, handler } = slowWork(cluster, 1500);
    const node = await cluster.node({ definitions: [{ name: LIMIT, duration: DURATION }] });
    node.gatekeeper.tasks.handlers.handle('mail', handler);
    node.gatekeeper.tasks.handlers.start();
    await submitMails(node, 4);
    await cluster.time.advance(30_000);
    expect(work).toEqual({ running: 0, most: 1, done: 4 });
  });

  it('stay removed, although code declares them', async () => {
    const cluster = newCluster();
    const definitions = [{ name: LIMIT, duration: DURATION }];
    const operator = await cluster.node({ definitions });
    await removed(operator.gatekeeper, LIMIT);
    const node = await cluster.node({ definitions });
    const ran: string[] = [];
    node.gatekeeper.tasks.handlers.handle('mail', ({ id }) => void ran.push(id));
    node.gatekeeper.tasks.handlers.start();
    await submitMails(node, 1);
    await cluster.time.advance(2 * NOTICED);
    expect(ran).toEqual(['mail:0']);
  });
});

describe('an operator', () => {
  it('pauses a type: running attempts go on, and no other begins until it is resumed', async () => {
    const cluster = newCluster();
    const { work, handler } = slowWork(cluster, 2000);
    const nodes = [await limitedWorker(cluster, handler), await limitedWorker(cluster, handler)];
    await defineLimit(nodes[0]!, { permits: 1 });
    await submitMails(nodes[0]!, 3);
    await cluster.time.advance(1000);
    await nodes[1]!.gatekeeper.definitions.pause(LIMIT);
    await cluster.time.advance(60_000);
    expect(work).toEqual({ running: 0, most: 1, done: 1 });
    expect(nodes.map(obstacleOf)).toEqual(['paused', 'paused']);
    await nodes[0]!.gatekeeper.definitions.resume(LIMIT);
    await cluster.time.advance(NOTICED);
    expect(work).toMatchObject({ done: 3 });
  });

  it('has paused a type before a node starts', async () => {
    const cluster = newCluster();
    const operator = await cluster.node();
    await defineLimit(operator);
    await operator.gatekeeper.definitions.pause(LIMIT);
    await submitMails(operator, 1);
    const ran: string[] = [];
    await limitedWorker(cluster, ({ id }) => void ran.push(id));
    await cluster.time.advance(60_000);
    expect(ran).toEqual([]);
    await operator.gatekeeper.definitions.resume(LIMIT);
    await cluster.time.advance(NOTICED);
    expect(ran).toEqual(['mail:0']);
  });

  it('pauses a type in the middle of a series of short attempts', async () => {
    const cluster = newCluster();
    const { work, handler } = slowWork(cluster, 50);
    const node = await limitedWorker(cluster, handler, { concurrency: 1 });
    await defineLimit(node);
    await submitMails(node, 15);
    await cluster.time.advance(120);
    await node.gatekeeper.definitions.pause(LIMIT);
    await cluster.time.advance(60_000);
    expect(work.done).toBeGreaterThan(0);
    expect(work.done).toBeLessThan(5);
  });

  it('confines a type to the nodes that its patterns match', async () => {
    const cluster = newCluster();
    const by: string[] = [];
    const handlerOf = (name: string) => () => void by.push(name);
    const first = await limitedWorker(cluster, handlerOf('app1'));
    const second = await limitedWorker(cluster, handlerOf('app2'));
    await defineLimit(first, { acquirerPattern: 'app2', permits: 10 });
    await submitMails(first, 5);
    await cluster.time.advance(NOTICED);
    expect(by).toEqual(Array(5).fill('app2'));
    expect([first, second].map(obstacleOf)).toEqual(['acquirer', undefined]);
    await first.gatekeeper.definitions.edit(LIMIT, { acquirerPattern: 'app1' });
    await submitMails(first, 5);
    await cluster.time.advance(2 * NOTICED);
    expect(by.slice(5)).toEqual(Array(5).fill('app1'));
  });

  it('keeps nodes that a pattern does not match from the hints', async () => {
    const cluster = newCluster();
    const [first, second] = [await limitedWorker(cluster, () => 1), await limitedWorker(cluster, () => 1)];
    await defineLimit(first, { acquirerPattern: 'app2' });
    await submitMails(first, 5);
    await cluster.time.advance(2 * NOTICED);
    const [outside, inside] = [hintsAskedBy(first), hintsAskedBy(second)];
    await submitMails(second, 5);
    await cluster.time.advance(60_000);
    expect(outside()).toBe(0);
    expect(inside()).toBeGreaterThan(0);
  });

  it('can define limits of types only', async () => {
    const { definitions } = (await newCluster().node()).gatekeeper;
    const defining = definitions.define({ name: 'task:no/type', duration: DURATION });
    await expect(defining).rejects.toMatchObject({
      code: 'reserved-name',
      faults: [expect.stringContaining('"no/type"')],
    });
  });
});
