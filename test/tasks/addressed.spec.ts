import type { TaskTarget } from 'nestjs-gatekeeper';
import { type SubmitOptions, grouped, single } from '../../lib/tasks/index.js';
import { LEASE, SWEPT, type TaskCluster, type TaskNode, loseAfter, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'order-7');
/** ms: longer than the pause between two looks for addressed tasks. */
const LOOKED = 2000;

/** A node that handles `mail`. `ran` has the names of the nodes that began an attempt. */
function worker(cluster: TaskCluster, ran: string[], work: () => unknown = () => 1, concurrency = 4): TaskNode {
  const node = cluster.node();
  const { acquirer } = node.context.node;
  node.tasks.handlers.handle('mail', () => (ran.push(acquirer), work()), { lease: LEASE, concurrency });
  node.tasks.handlers.start();
  return node;
}

/** Three nodes app1, app2 and app3. */
function three(cluster: TaskCluster, work?: () => unknown) {
  const ran: string[] = [];
  const nodes = [1, 2, 3].map(() => worker(cluster, ran, work));
  return { ran, nodes, app1: nodes[0]!, app2: nodes[1]!, app3: nodes[2]! };
}

describe('a task that is addressed', () => {
  it.each<{ to: string | TaskTarget; runs: string[] }>([
    { to: 'app2', runs: ['app2'] },
    { to: 'app[23]', runs: ['app2', 'app3'] },
    { to: { acquirer: 'app3' }, runs: ['app3'] },
    { to: { group: 'default', acquirer: 'app1' }, runs: ['app1'] },
    { to: { group: 'eu' }, runs: [] },
    { to: { acquirer: 'app' }, runs: [] },
    { to: { instance: 'none' }, runs: [] },
  ])('to $to runs only on nodes that match', async ({ to, runs }) => {
    const cluster = newCluster();
    const { ran, app1 } = three(cluster, () => new Promise((resolve) => cluster.time.schedule(() => resolve(1), 100)));
    await app1.tasks.submitMany(
      Array.from({ length: 30 }, (_, i) => ({ name: single('mail', `m${i}`), options: { to } })),
    );
    await cluster.time.advance(LOOKED + SWEPT);
    expect([...new Set(ran)].toSorted()).toEqual(runs);
    expect(ran).toHaveLength(runs.length === 0 ? 0 : 30);
  });

  it('begins at once on the node that submits it, and within two seconds on another one', async () => {
    const cluster = newCluster();
    const { ran, app1, app2 } = three(cluster);
    await cluster.time.advance(LOOKED);
    await app2.tasks.submit(NAME, undefined, { to: { instance: app2.context.node.instance } });
    await cluster.time.advance(10);
    expect(ran).toEqual(['app2']);
    await app1.tasks.submit(NAME, undefined, { to: 'app3' });
    await cluster.time.advance(LOOKED);
    expect(ran).toEqual(['app2', 'app3']);
  });

  it('runs when a node that matches starts', async () => {
    const cluster = newCluster();
    const ran: string[] = [];
    const node = worker(cluster, ran);
    await node.tasks.submit(NAME, undefined, { to: 'app2' });
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual([]);
    worker(cluster, ran);
    await cluster.time.advance(LOOKED);
    expect(ran).toEqual(['app2']);
  });

  it('is tried again by a node that matches after a failure, a crash and retry()', async () => {
    const cluster = newCluster();
    const ran: string[] = [];
    let fails = 1;
    const work = () => {
      if (fails-- > 0) throw new Error('simulated');
    };
    const first = worker(cluster, ran, work);
    const lost = worker(cluster, ran, () => new Promise(() => undefined));
    await first.tasks.submit(NAME, undefined, { to: 'app1', backoff: { first: 10, longest: 10 }, maxAttempts: 1 });
    await cluster.time.advance(SWEPT);
    expect(await first.tasks.find(NAME)).toMatchObject({ state: 'failed', to: { acquirer: 'app1' } });
    await first.tasks.retry(NAME);
    await cluster.time.advance(LOOKED);
    expect(ran).toEqual(['app1', 'app1']);
    expect(await first.tasks.find(NAME)).toMatchObject({ state: 'completed' });

    const other = single('mail', 'other');
    loseAfter(lost, 1);
    await first.tasks.submit(other, undefined, { to: 'app[24]' });
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual(['app1', 'app1']);
    worker(cluster, ran);
    worker(cluster, ran);
    await cluster.time.advance(3 * LEASE);
    expect(ran).toEqual(['app1', 'app1', 'app4']);
  });

  it.each<[string, SubmitOptions]>([
    ['runAt', { runAt: 5000 }],
    ['after', { after: [single('mail', 'first')] }],
    ['unique', { unique: { onConflict: 'replace' } }],
  ])('keeps its address with %s', async (_option, options) => {
    const cluster = newCluster();
    const { ran, app1 } = three(cluster);
    await app1.tasks.submit(single('mail', 'first'), undefined, { to: 'app1' });
    await app1.tasks.submit(NAME, undefined, { ...options, to: 'app3' });
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual(['app1', 'app3']);
  });

  it('keeps the address of the submission that comes while it runs', async () => {
    const cluster = newCluster();
    let end!: () => void;
    const { ran, app1 } = three(cluster, () => new Promise<void>((resolve) => (end = resolve)));
    const unique = { during: 'waiting' } as const;
    await app1.tasks.submit(NAME, undefined, { to: 'app1', unique });
    await cluster.time.advance(LOOKED);
    await app1.tasks.submit(NAME, undefined, { to: 'app2', unique });
    end();
    await cluster.time.advance(LOOKED);
    expect(ran).toEqual(['app1', 'app2']);
  });

  it('has its place in a serial queue', async () => {
    const cluster = newCluster();
    const { ran, app1 } = three(cluster);
    for (const to of ['app3', 'app1', 'app2'])
      await app1.tasks.submitSerial('q', single('mail', to), undefined, { to });
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual(['app3', 'app1', 'app2']);
  });

  it('counts in its group, whose handler runs on any node', async () => {
    const cluster = newCluster();
    const { app1, app2 } = three(cluster);
    const totals: number[] = [];
    app2.tasks.handlers.onGroupFinished('mail', ({ completed }) => void totals.push(completed), { lease: LEASE });
    await app1.tasks.submit(grouped('mail', 'june', 1, 2), undefined, { to: 'app1' });
    await app1.tasks.submit(grouped('mail', 'june', 2, 2), undefined, { to: 'app3' });
    await cluster.time.advance(SWEPT);
    expect(totals).toEqual([2]);
  });

  it('is not run by a node that has switched the type off, and is cancelled like any other', async () => {
    const cluster = newCluster();
    const { ran, app1 } = three(cluster);
    app1.tasks.handlers.pauseType('mail');
    await app1.tasks.submit(NAME, undefined, { to: 'app1' });
    await app1.tasks.submit(single('mail', 'kept'), undefined, { to: 'app1' });
    await cluster.time.advance(LOOKED);
    expect(await app1.tasks.cancel(NAME)).toMatchObject({ outcome: 'cancelled' });
    expect(ran).toEqual([]);
    app1.tasks.handlers.resumeType('mail');
    await cluster.time.advance(LOOKED);
    expect(ran).toEqual(['app1']);
  });

  it('does not go to external workers', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    await node.tasks.submit(NAME, undefined, { to: 'app.*' });
    const worker = { instance: 'http:importer', acquirer: 'app9' };
    const signal = new AbortController().signal;
    const { external } = await node.tasks.open();
    const claiming = external.claim({ worker, types: ['mail'], most: 5, lease: LEASE, wait: 1000, signal });
    await cluster.time.advance(1000);
    expect(await claiming).toEqual({ tasks: [], denied: [] });
  });

  it('is done by a busy node as soon as it has room, in bands of priority', async () => {
    const cluster = newCluster();
    const order: unknown[] = [];
    const node = cluster.node();
    const work = ({ data }: { data: unknown }) => void order.push(data);
    for (const [index, priority] of (['low', 'normal', 'high'] as const).entries())
      for (let i = 0; i < 5; i++)
        await node.tasks.submit(single('mail', `${index}-${i}`), priority, { to: { group: 'default' }, priority });
    node.tasks.handlers.handle('mail', work, { lease: LEASE, concurrency: 1 });
    node.tasks.handlers.start();
    await cluster.time.advance(LOOKED);
    expect(order).toHaveLength(15);
    expect(order.slice(0, 5)).toEqual(Array.from({ length: 5 }, () => 'high'));
  });

  it('is explained with the living nodes that match', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    cluster.node();
    cluster.node();
    await tasks.submit(NAME, undefined, { to: 'app[23]' });
    expect(await tasks.explain(NAME)).toMatchObject({
      reason: 'waiting',
      matching: ['app2', 'app3'],
      sentence: 'it waits for a node that matches its address, acquirer "app[23]": "app2", "app3"',
      task: { state: 'waiting', to: { acquirer: 'app[23]' } },
    });
    await tasks.submit(single('mail', 'lost'), undefined, { to: { group: 'eu', instance: 'gone' } });
    expect(await tasks.explain('mail:lost')).toMatchObject({
      matching: [],
      sentence: expect.stringMatching(/, instance "gone" of group "eu", and no living node matches$/),
    });
  });

  it('is listed among the waiting ones, and its type among the waiting types', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    await tasks.submit(NAME, undefined, { to: 'app9' });
    await tasks.submit(single('import', 'a'), undefined, { to: 'app8' });
    await tasks.submit(single('mail', 'open'));
    const { tasks: listed } = await tasks.list({ state: 'waiting', isWanted: () => true, limit: 10 });
    expect(listed.map(({ id }) => id).toSorted()).toEqual(['import:a', 'mail:open', 'mail:order-7']);
    expect((await tasks.waitingTypes()).types.map(({ type }) => type)).toEqual(['import', 'mail']);
  });

  it('costs a node one read per target of others, whatever waits for them', async () => {
    const cluster = newCluster();
    const ran: string[] = [];
    const node = worker(cluster, ran);
    for (let i = 0; i < 300; i++) await node.tasks.submit(single('mail', `m${i}`), undefined, { to: `other${i % 3}` });
    const { tasks } = node.driver;
    const range = tasks.range.bind(tasks);
    let reads = 0;
    Object.assign(tasks, {
      range: (from: string, ...rest: [string, number]) => (
        (reads += Number(from.startsWith('t|'))),
        range(from, ...rest)
      ),
    });
    await cluster.time.advance(10_000);
    expect(reads).toBeGreaterThan(4 * 8);
    expect(reads).toBeLessThanOrEqual(4 * 12);
    expect(ran).toEqual([]);
  });

  it.each<[unknown, string]>([
    ['(', 'to.acquirer: "("'],
    [{}, 'to: is empty: give a pattern, or group, acquirer or instance'],
    [{ name: 'a' }, 'to.name: '],
    [5, 'to: 5 '],
    [{ instance: '' }, 'to.instance: is empty'],
  ])('to %j is refused', async (to, fault) => {
    const { tasks } = newCluster().node();
    const submitting = tasks.submit(NAME, undefined, { to: to as string });
    await expect(submitting).rejects.toMatchObject({
      code: 'invalid-options',
      message: expect.stringContaining(fault),
    });
  });

  it('takes no part in the turns of fair keys', async () => {
    const { tasks } = newCluster().node();
    await expect(tasks.submit(NAME, undefined, { to: 'app1', fairKey: 'a' })).rejects.toThrow('give one of the two');
  });
});
