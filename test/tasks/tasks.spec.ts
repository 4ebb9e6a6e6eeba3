import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { InvalidTaskError, RetryLaterError, type SubmitOptions, single } from '../../lib/tasks/index.js';
import { refused } from '../support/refused.js';
import { SWEPT, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'order-7');
describe('submit()', () => {
  it('runs the task once, on one of the nodes that handle its type, and keeps its result', async () => {
    const cluster = newCluster();
    const ran: unknown[] = [];
    const nodes = [1, 2, 3].map(() => worker(cluster, ({ data }) => (ran.push(data), { sent: true })));
    const answer = await nodes[0]!.tasks.submit(NAME, { to: 'ann@example.com' });
    await cluster.time.advance(1000);
    expect(answer).toEqual({ id: 'mail:order-7', outcome: 'created', because: 'it is new' });
    expect(ran).toEqual([{ to: 'ann@example.com' }]);
    expect(await nodes[1]!.tasks.find('mail:order-7')).toMatchObject({ state: 'completed', result: { sent: true } });
  });

  it('knows the same id while the task has not ended, also from another node at the same moment', async () => {
    const cluster = newCluster();
    const [one, other] = [cluster.node(), cluster.node()];
    const answers = await Promise.all([one.tasks.submit(NAME), other.tasks.submit(NAME), one.tasks.submit(NAME)]);
    expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual(['created', 'known', 'known']);
    expect((await one.tasks.submit(NAME)).because).toBe('it waits for a node');
  });

  it('runs a task again that has ended, unless it asks for one that is not remembered', async () => {
    const cluster = newCluster();
    const tokens: number[] = [];
    const node = worker(cluster, ({ token }) => void tokens.push(token));
    const outcomes: string[] = [];
    for (const options of [{}, {}, { dedup: 'retained' }] satisfies SubmitOptions[]) {
      outcomes.push((await node.tasks.submit(NAME, undefined, options)).outcome);
      await cluster.time.advance(1000);
    }
    expect(outcomes).toEqual(['created', 'created', 'known']);
    expect(tokens).toHaveLength(2);
    expect(tokens[1]).toBeGreaterThan(tokens[0]!);
  });

  it('waits until the task may run', async () => {
    const cluster = newCluster();
    const ran: number[] = [];
    const node = worker(cluster, () => void ran.push(cluster.time.monotonic()));
    await node.tasks.submit(NAME, undefined, { runAt: '1m' });
    await cluster.time.advance(59_000);
    expect(ran).toEqual([]);
    await cluster.time.advance(5000);
    expect(ran).toHaveLength(1);
  });

  it.each([
    ['data that is too large', 'x'.repeat(70_000), {}, /data: 70002 bytes.* 65536/],
    ['data that is not JSON', { at: new Date(0) }, {}, 'is not JSON'],
    ['a circle', circle(), {}, 'is not JSON'],
    ['a BigInt', 1n, {}, 'is not JSON'],
    ['a function', () => 1, {}, 'is not JSON'],
    ['an unknown priority', 1, { priority: 'urgent' }, 'priority: "urgent" is not "high" or "normal" or "low"'],
    ['an unknown option', 1, { prio: 'high' }, 'prio: '],
    ['a date that is none', 1, { runAt: new Date(Number.NaN) }, 'runAt: an Invalid Date is no time'],
    ['a delay in months', 1, { runAt: 'P1M' }, /runAt: "P1M" is neither a Date nor a delay: "P1M" /],
    ['a retention of seconds', 1, { retention: '10s' }, 'retention: is shorter than a minute'],
  ])('refuses %s, and submits nothing', async (_, data, options, message) => {
    const node = newCluster().node();
    const submitting = node.tasks.submit(NAME, data, options as SubmitOptions);
    await expect(submitting).rejects.toThrow(InvalidOptionsError);
    await expect(submitting).rejects.toThrow(message);
    expect(await node.tasks.find('mail:order-7')).toBeUndefined();
  });

  it('keeps a task whose type no node handles, until one does', async () => {
    const cluster = newCluster();
    await cluster.node().tasks.submit(NAME);
    await cluster.time.advance(60_000);
    const ran: string[] = [];
    worker(cluster, ({ id }) => void ran.push(id));
    await cluster.time.advance(1000);
    expect(ran).toEqual(['mail:order-7']);
  });

  it('runs tasks of a higher priority first', async () => {
    const cluster = newCluster();
    const submitter = cluster.node();
    for (const priority of ['low', 'normal', 'high'] as const) {
      await submitter.tasks.submit(single('mail', priority), undefined, { priority });
    }
    const ran: string[] = [];
    const node = cluster.node();
    node.tasks.handlers.handle('mail', ({ id }) => void ran.push(id), { concurrency: 1 });
    node.tasks.handlers.start();
    await cluster.time.advance(1000);
    expect(ran).toEqual(['mail:high', 'mail:normal', 'mail:low']);
  });
});

describe('a handler', () => {
  it('that fails is called again after a pause that doubles, and at last the task is a dead letter', async () => {
    const cluster = newCluster();
    const begun: number[] = [];
    const node = worker(cluster, () => {
      begun.push(cluster.time.monotonic());
      throw new Error('no route to host');
    });
    await node.tasks.submit(NAME, undefined, { maxAttempts: 3, backoff: { first: '10s' } });
    await cluster.time.advance(120_000);
    expect(begun).toHaveLength(3);
    expect(begun[1]! - begun[0]!).toBeGreaterThanOrEqual(5000);
    expect(begun[2]! - begun[1]!).toBeGreaterThanOrEqual(10_000);
    const task = await node.tasks.find('mail:order-7');
    expect(task).toMatchObject({ attempts: 3, state: 'failed', lastError: { message: 'no route to host' } });
    expect(node.of('task-ended').map(({ outcome }) => outcome)).toEqual([undefined, undefined, 'failed']);
  });

  it('that wants to be called later is, and that counts as no failure', async () => {
    const cluster = newCluster();
    const attempts: number[] = [];
    const node = worker(cluster, ({ attempt }) => {
      attempts.push(attempt);
      if (attempts.length < 3) throw new RetryLaterError('5s');
    });
    await node.tasks.submit(NAME, undefined, { maxAttempts: 1 });
    await cluster.time.advance(30_000);
    expect(attempts).toEqual([1, 1, 1]);
    expect((await node.tasks.find('mail:order-7'))?.state).toBe('completed');
  });

  it('that finds its task invalid is not called again', async () => {
    const cluster = newCluster();
    let calls = 0;
    const node = worker(cluster, () => {
      calls++;
      throw new InvalidTaskError('there is no such order');
    });
    const invalid: string[] = [];
    node.tasks.handlers.onInvalid(({ id }, error) => void invalid.push(`${id}: ${error.message}`));
    await node.tasks.submit(NAME);
    await cluster.time.advance(SWEPT);
    expect(calls).toBe(1);
    expect(invalid).toEqual(['mail:order-7: there is no such order']);
    expect((await node.tasks.find('mail:order-7'))?.state).toBe('invalid');
  });

  it('whose result is no JSON, or too large, has an invalid task: another attempt would do the work again', async () => {
    const cluster = newCluster();
    const node = worker(cluster, ({ data }) => (data === 'large' ? 'x'.repeat(70_000) : new Map()));
    await node.tasks.submit(single('mail', 'large'), 'large');
    await node.tasks.submit(single('mail', 'map'), 'map');
    await cluster.time.advance(1000);
    const [large, map] = await Promise.all(['mail:large', 'mail:map'].map((id) => node.tasks.find(id)));
    expect([large?.state, map?.state]).toEqual(['invalid', 'invalid']);
    expect(large?.lastError?.message).toMatch(/70002 bytes.* 65536/);
  });

  it('may not be added twice for one type', () => {
    const node = newCluster().node();
    node.tasks.handlers.handle('mail', () => 1);
    expect(() => node.tasks.handlers.handle('mail', () => 2)).toThrow(refused('type'));
    expect(() => node.tasks.handlers.handle('no/type', () => 2)).toThrow('type: "no/type" is not');
    expect(() => node.tasks.handlers.handle('mail#join', () => 2)).toThrow('type: "mail#join" is not');
    expect(() => node.tasks.handlers.handle('quick', () => 2, { lease: 100 })).toThrow('lease: 100 ms is shorter than');
  });
});

it('remembers a completed task for its retention, and a dead letter longer', async () => {
  const cluster = newCluster();
  const node = worker(cluster, ({ data }) => {
    if (data === 'bad') throw new InvalidTaskError('bad');
  });
  const options = { retention: '1m', deadLetterRetention: '1h' };
  await node.tasks.submit(single('mail', 'good'), 'good', options);
  await node.tasks.submit(single('mail', 'bad'), 'bad', options);
  await cluster.time.advance(2 * 60_000);
  expect(await node.tasks.find('mail:good')).toBeUndefined();
  expect(await node.tasks.find('mail:bad')).toBeDefined();
});

function circle(): object {
  const value: { self?: object } = {};
  value.self = value;
  return value;
}
