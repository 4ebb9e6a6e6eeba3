import { UnknownOutcomeError } from 'nestjs-gatekeeper';
import { RetryLaterError, type TaskContext, type TaskFunction, grouped, single } from '../../lib/tasks/index.js';
import { encodeTask } from '../../lib/tasks/rules/task.codec.js';
import { openEnd } from '../support/nodes.js';
import { refused } from '../support/refused.js';
import { interceptWrites } from '../support/writes.js';
import { goAway } from './store-away.js';
import { GRACE, LEASE, SWEPT, type TaskNode, loseAfter, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();

/** The text of a task as a newer version of the package writes it. */
async function fromNewerVersion({ tasks, store }: TaskNode, id: string): Promise<string> {
  await tasks.submit(single('mail', 'pattern'));
  return encodeTask((await store.find('mail:pattern'))!)
    .replaceAll('mail:pattern', id)
    .replace('"v":1', '"v":2');
}

/** Problems with the task `mail:x`. */
const problemsOf = (node: TaskNode) => node.of('problem').filter(({ action }) => action.includes('mail:x'));

/** No claim of the task `mail:x` is answered. @param meanwhile follows the first one */
function loseClaims({ driver }: TaskNode, meanwhile: () => Promise<void> = () => Promise.resolve()): void {
  let claims = 0;
  interceptWrites(driver.tasks, 'replace', async (go, { key, expected, next }) => {
    const isWritten = await go();
    if (key !== 'mail:x' || !next?.startsWith('c|') || !expected?.startsWith('w|')) return isWritten;
    if (claims++ === 0) await meanwhile();
    throw new UnknownOutcomeError('no answer');
  });
}

describe('a text that this version can not read', () => {
  it('keeps the sweep from no other task', async () => {
    const cluster = newCluster();
    const submitter = cluster.node();
    const text = await fromNewerVersion(submitter, 'mail:newer');
    const storage = submitter.driver;
    await storage.tasks.compareAndSet('mail:newer', undefined, text);
    await storage.tasks.compareAndSet('a:newer', undefined, text.replaceAll('mail', 'a'));
    // All hints are lost.
    while ((await storage.queue('mail.normal').drain(10)).length > 0);
    await storage.queue('a.normal').offer([text]);
    const ran: string[] = [];
    const node = worker(cluster, ({ id }) => void ran.push(id));
    await cluster.time.advance(2 * SWEPT);
    expect(ran).toEqual(['mail:pattern']);
    expect(node.of('problem').length).toBeLessThan((4 * SWEPT) / 1000);
  });

  it('keeps no node from its end, and its hint stays', async () => {
    const cluster = newCluster();
    const node = cluster.node();
    const text = await fromNewerVersion(node, 'mail:newer');
    const { work, end } = openEnd();
    node.tasks.handlers.handle('mail', work, { lease: LEASE, concurrency: 2 });
    node.tasks.handlers.start();
    await cluster.time.advance(1000);
    await node.driver.queue('mail.low').offer([text]);
    await cluster.time.advance(100);
    const closing = node.tasks.handlers.close();
    end();
    await cluster.time.advance(20_000);
    await expect(closing).resolves.toBeUndefined();
  });
});

it.each<[string, string, TaskFunction]>([
  ['is claimed', 'running', () => new Promise<void>(() => undefined)],
  ['has ended', 'completed', () => undefined],
])('a submission whose answer is lost hears that it created its task, which %s by then', async (_, state, handler) => {
  const cluster = newCluster();
  const submitter = cluster.node();
  worker(cluster, handler);
  const meanwhile: unknown[] = [];
  interceptWrites(submitter.driver.tasks, 'create', async (go) => {
    await go();
    await cluster.time.advance(100);
    meanwhile.push((await submitter.tasks.find('mail:x'))?.state);
    throw new UnknownOutcomeError('no answer');
  });
  expect(await submitter.tasks.submit(single('mail', 'x'))).toMatchObject({ outcome: 'created' });
  expect(await submitter.tasks.find('mail:x')).toMatchObject({ state });
  expect(meanwhile).toEqual([state]);
});

it('a claim of unknown outcome that was applied runs, and counts as no crash', async () => {
  const cluster = newCluster();
  const node = cluster.node();
  let lost = 2;
  interceptWrites(node.driver.tasks, 'replace', async (go) => {
    const isWritten = await go();
    if (lost-- > 0) throw new UnknownOutcomeError('no answer');
    return isWritten;
  });
  const ran: number[] = [];
  node.tasks.handlers.handle('mail', ({ attempt }) => void ran.push(attempt), { lease: LEASE });
  node.tasks.handlers.start();
  await node.tasks.submit(single('mail', 'x'));
  await cluster.time.advance(2000);
  expect(ran).toEqual([1]);
  expect(await node.tasks.find('mail:x')).toMatchObject({ crashes: 0, state: 'completed' });
});

it('a claim of unknown outcome stays unknown in an outage: its task runs, and counts as no crash', async () => {
  const cluster = newCluster();
  const ran: string[] = [];
  const node = worker(cluster, ({ id }) => void ran.push(id));
  goAway(node.driver, cluster.time, { outage: 3000 });
  await node.tasks.submit(single('mail', 'x'), undefined, { maxCrashes: 1 });
  await cluster.time.advance(LEASE / 2);
  expect(ran).toEqual(['mail:x']);
  expect(await node.tasks.find('mail:x')).toMatchObject({ crashes: 0, state: 'completed' });
});

it('a claim whose outcome is unknown for too long is reported as such', async () => {
  const cluster = newCluster();
  const node = worker(cluster, () => undefined);
  goAway(node.driver, cluster.time, { outage: LEASE - 1000 });
  await node.tasks.submit(single('mail', 'x'));
  await cluster.time.advance(LEASE + SWEPT);
  expect(problemsOf(node)).toMatchObject([{ action: 'claim task mail:x', error: { code: 'unknown-outcome' } }]);
  expect(await node.tasks.find('mail:x')).toMatchObject({ crashes: 1, state: 'completed' });
});

it('a claim of unknown outcome runs and counts as no crash, although its task was changed before this node looks', async () => {
  const cluster = newCluster();
  const ran: string[] = [];
  const node = worker(cluster, ({ id }) => void ran.push(id));
  loseClaims(node, async () => {
    await cluster.node().tasks.submit(single('mail', 'y'), undefined, { after: ['mail:x'] });
  });
  await node.tasks.submit(single('mail', 'x'), undefined, { maxCrashes: 1 });
  await cluster.time.advance(LEASE / 2);
  expect(ran).toEqual(['mail:x', 'mail:y']);
  expect(await node.tasks.find('mail:x')).toMatchObject({ crashes: 0, state: 'completed' });
});

it('a task with two hints runs once, although the answers to both claims are lost', async () => {
  const cluster = newCluster();
  const ran: string[] = [];
  const node = cluster.node();
  await node.tasks.submit(single('mail', 'x'));
  const queue = node.driver.queue('mail.normal');
  const [hint] = await queue.drain(1);
  await queue.offer([hint!, hint!]);
  loseClaims(node);
  const work: TaskFunction = ({ id }) => {
    ran.push(id);
    return new Promise<void>((done) => void cluster.time.schedule(done, 1000));
  };
  node.tasks.handlers.handle('mail', work, { lease: LEASE, concurrency: 2 });
  node.tasks.handlers.start();
  await cluster.time.advance(LEASE / 2);
  expect(ran).toEqual(['mail:x']);
});

describe('a task whose handler does not begin after its claim', () => {
  /** The type is paused while the task is claimed. */
  async function pausedWhileClaimed(away: Parameters<typeof goAway>[2]) {
    const cluster = newCluster();
    const node = worker(cluster, () => undefined);
    interceptWrites(node.driver.tasks, 'replace', (go) => {
      node.tasks.handlers.pauseType('mail');
      return go();
    });
    goAway(node.driver, cluster.time, away);
    await node.tasks.submit(single('mail', 'x'));
    await cluster.time.advance(LEASE / 2);
    return { cluster, node };
  }

  it.each([
    ['before its return', { writes: 1, isAnswered: true }],
    ['before the answer to its return', { writes: 2 }],
  ])('goes back after an outage that begins %s', async (_, away) => {
    const { node } = await pausedWhileClaimed({ outage: 3000, ...away });
    expect(await node.tasks.find('mail:x')).toMatchObject({ state: 'waiting', crashes: 0 });
    expect(problemsOf(node)).toEqual([]);
    // After a lost answer the node can't know whether the store came to the hint, so it may be there twice.
    expect(new Set(await node.driver.queue('mail.normal').drain(10)).size).toBe(1);
  });

  it('waits for the end of its lease in a longer one', async () => {
    const { cluster, node } = await pausedWhileClaimed({ outage: LEASE, isAnswered: true });
    await cluster.time.advance(LEASE / 2);
    expect(problemsOf(node)).toMatchObject([{ action: 'give task mail:x back', error: { code: 'unavailable' } }]);
    await cluster.time.advance(SWEPT);
    expect(await node.tasks.find('mail:x')).toMatchObject({ state: 'waiting', crashes: 1 });
  });
});

it.each([
  ['the end of a handler', () => undefined],
  [
    'the return of a task whose handler stops for the shutdown',
    ({ signal }: TaskContext) => new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason))),
  ],
] as const)('%s is not noted for longer than a shutdown takes, if the store is away', async (_, work) => {
  const cluster = newCluster();
  const node = cluster.node();
  const { handlers } = node.tasks;
  handlers.handle('mail', work, { lease: '1h' });
  handlers.start();
  await node.tasks.submit(single('mail', 'order-7'));
  goAway(node.driver, cluster.time, { outage: 7_200_000, isAnswered: true });
  await cluster.time.advance(1000);
  let isClosed = false;
  void handlers.close().then(() => (isClosed = true));
  await cluster.time.advance(GRACE + node.context.timing.callTimeout);
  expect(isClosed).toBe(true);
  await cluster.time.advance(0);
  const ends = node.of('problem').filter(({ action }) => action === 'note the end of task mail:order-7');
  expect(ends).toHaveLength(1);
});

it('a renewal behind the end of an attempt does not change the task', async () => {
  const cluster = newCluster();
  const errors: unknown[] = [];
  const node = worker(cluster, (task) => {
    if (task.attempt > 1 || errors.length > 0) return;
    setImmediate(() => void task.lease.renew('10m').catch((error: unknown) => errors.push(error)));
    throw new RetryLaterError(1000);
  });
  await node.tasks.submit(single('mail', 'x'));
  await cluster.time.advance(SWEPT);
  expect(errors).toHaveLength(1);
  expect((await node.tasks.find('mail:x'))?.state).toBe('completed');
});

it('a wait that can not be read is an error, not a wait of 0 ms', () => {
  expect(() => new RetryLaterError('5 minuten')).toThrow(refused('after'));
});

it('a group that runs again completes, although one of its members was remembered from the last time', async () => {
  const cluster = newCluster();
  const node = cluster.node();
  const joined: number[] = [];
  let night = 0;
  node.tasks.handlers.handle('import', ({ data }) => {
    if (data === 2 && night === 1) throw new Error('no');
  });
  node.tasks.handlers.onGroupFinished('import', ({ completed }) => void joined.push(completed));
  node.tasks.handlers.start();
  for (night = 1; night <= 2; night++) {
    const options = { dedup: 'retained', maxAttempts: 1, retention: '1m' } as const;
    for (const each of [1, 2, 3]) await node.tasks.submit(grouped('import', 'night', each, 3), each, options);
    await cluster.time.advance(10 * 60_000);
  }
  expect(joined).toEqual([2, 3]);
});

it('many submissions of one task make one hint', async () => {
  const node = newCluster().node();
  for (let count = 0; count < 20; count++) await node.tasks.submit(single('mail', 'x'));
  expect(await node.driver.queue('mail.normal').drain(100)).toHaveLength(1);
});

it('a member of a large group costs no look at all pages', async () => {
  const node = newCluster().node();
  let keys = 0;
  const { groups } = node.driver;
  const readMany = groups.readMany.bind(groups);
  groups.readMany = (asked) => ((keys += asked.length), readMany(asked));
  for (const number of [1, 2, 3]) await node.tasks.submit(grouped('import', 'large', number, 1_000_000));
  expect(keys).toBe(0);
});

it('a task whose node died right after its end does not keep a new one of its id away', async () => {
  const cluster = newCluster();
  const node = worker(cluster, () => undefined);
  const isLost = loseAfter(node, 3);
  const other = cluster.node();
  await other.tasks.submit(single('mail', 'x'), 1, { runAt: '1s' });
  await other.tasks.submit(single('other', 'later'), 1, { after: [single('mail', 'x')] });
  await cluster.time.advance(SWEPT / 3);
  expect(isLost()).toBe(true);
  expect((await other.store.find('mail:x'))!.state).toBe('done');
  expect(await other.tasks.submit(single('mail', 'x'), 2)).toMatchObject({ outcome: 'created' });
  expect(await other.tasks.submit(single('mail', 'x'), 3)).toMatchObject({ outcome: 'known' });
});
