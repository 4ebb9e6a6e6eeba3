import { filter, take } from 'rxjs';
import { InvalidTaskError, grouped, preparedHandler, single } from '../../lib/tasks/index.js';
import type { TextCollection } from '../../lib/core/store/index.js';
import { START } from '../support/fake-time.js';
import { openEnd } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { FIRST, ScheduledJob } from './schedule-nodes.js';
import { LEASE, SHORT_GROUP, SWEPT, type TaskNode, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const SHORT = { retention: '5m', deadLetterRetention: '5m', maxCrashes: 100 } as const;
const FORGOTTEN = 15 * 60_000;

/** Notes the write by which the node makes each record of this kind, so that it can come again. */
function recordsOf(
  { driver }: TaskNode,
  prefix: string,
): { readonly groups: TextCollection; readonly made: Parameters<TextCollection['compareAndSet']>[] } {
  const { groups } = driver;
  const made: Parameters<TextCollection['compareAndSet']>[] = [];
  interceptWrites(groups, 'create', (go, { key, expected, next }) => {
    if (key.startsWith(prefix)) made.push([key, expected, next]);
    return go();
  });
  return { groups, made };
}

describe('a write that arrives late', () => {
  it('leaves no tail of a queue, also if it is of a former life of the task', async () => {
    const cluster = newCluster();
    let lives = 0;
    const node = worker(cluster, () => {
      if (++lives === 1) throw new InvalidTaskError('not yet');
    });
    const { groups, made } = recordsOf(node, 'tail:');
    await node.tasks.submitSerial('q', single('mail', 'a'), undefined, SHORT);
    await cluster.time.advance(1000);
    await node.tasks.retry('mail:a');
    await cluster.time.advance(1000);
    expect([lives, made.length]).toEqual([2, 2]);
    await groups.compareAndSet(...made[0]!);
    await cluster.time.advance(FORGOTTEN);
    expect(await cluster.texts()).toEqual([]);
  });

  it.each([
    ['list', 'list:', 2],
    ['page of the family', 'page:', 1],
  ])('leaves no %s of the sub-tasks of a former life', async (_, prefix, records) => {
    const cluster = newCluster();
    let lives = 0;
    const node = worker(cluster, async ({ submit }) => {
      const life = ++lives;
      const numbers = Array.from({ length: 130 }, (_, number) => number);
      await Promise.all(numbers.map((number) => submit(single('page', `${life}-${number}`), undefined, SHORT)));
      if (life === 1) throw new InvalidTaskError('not yet');
    });
    node.tasks.handlers.handle('page', () => undefined);
    const { groups, made } = recordsOf(node, prefix);
    await node.tasks.submit(single('mail', 'a'), undefined, SHORT);
    await cluster.time.advance(5000);
    const ofFirst = made.slice();
    await node.tasks.retry('mail:a');
    await cluster.time.advance(5000);
    expect([lives, ofFirst.length, made.length]).toEqual([2, records, 2 * records]);
    for (const record of ofFirst) expect(await groups.compareAndSet(...record)).toBe(true);
    await cluster.time.advance(FORGOTTEN);
    expect(await cluster.texts()).toEqual([]);
  });

  it('leaves no page of sub-tasks if their root has come back, too, after a retry by hand whose write failed', async () => {
    const cluster = newCluster();
    const node = worker(cluster, async ({ submit }) => {
      await submit(single('page', 'x'), undefined, SHORT);
      throw new InvalidTaskError('not yet');
    });
    node.tasks.handlers.handle('page', () => undefined);
    const [roots, pages] = [recordsOf(node, 'root:'), recordsOf(node, 'page:')];
    await node.tasks.submit(single('mail', 'a'), undefined, SHORT);
    await cluster.time.advance(5000);
    // The first step of a retry.
    await node.store.parents.removeFamily((await node.store.find('mail:a'))!);
    expect([roots.made.length, pages.made.length]).toEqual([1, 1]);
    // As it was first made, the root knows no member.
    for (const record of [roots.made[0]!, pages.made[0]!])
      expect(await roots.groups.compareAndSet(...record)).toBe(true);
    await cluster.time.advance(FORGOTTEN);
    expect(await cluster.texts()).toEqual([]);
  });

  it('leaves no page of a group of a former life', async () => {
    const cluster = newCluster();
    const node = worker(cluster, () => undefined);
    node.tasks.handlers.onGroupFinished('mail', () => undefined, SHORT_GROUP);
    const { groups, made } = recordsOf(node, 'page:');
    for (let life = 1; life <= 2; life++) {
      await node.tasks.submit(grouped('mail', 'june', 1, 1), undefined, SHORT);
      await cluster.time.advance(1000);
      expect(made).toHaveLength(life);
    }
    expect(await groups.compareAndSet(...made[0]!)).toBe(true);
    await cluster.time.advance(FORGOTTEN);
    expect(await cluster.texts()).toEqual([]);
  });

  it('makes a task that ends as cancelled if the one that it waits for failed, and was tried again meanwhile', async () => {
    const cluster = newCluster();
    const log: string[] = [];
    const node = worker(cluster, ({ id }) => void log.push(id));
    const { work: held, end: arrive } = openEnd();
    await node.tasks.submit(single('mail', 'first'), undefined, { runAt: '1h' });
    interceptWrites(node.driver.tasks, 'create', async (go) => (await held(), go()));
    const submitted = node.tasks.submit(single('mail', 'second'), undefined, { after: ['mail:first'] });
    await cluster.time.advance(100);
    await node.tasks.cancel('mail:first');
    expect(await node.tasks.retry('mail:first')).toMatchObject({ outcome: 'retried' });
    await cluster.time.advance(1000);
    arrive();
    await cluster.time.advance(SWEPT);
    await submitted;
    expect(await node.tasks.find('mail:second')).toMatchObject({ state: 'cancelled' });
    expect(log).toEqual(['mail:first']);
  });

  it('leaves no tail of a queue for a task that another one has placed and run meanwhile', async () => {
    const cluster = newCluster();
    const slow = cluster.node();
    const other = worker(cluster, () => undefined);
    const letThrough = interceptWrites(slow.driver.groups, 'create', async (go) => {
      letThrough();
      await other.store.awaiting.ensurePlaced('mail:a');
      await cluster.time.advance(100);
      expect((await other.tasks.find('mail:a'))?.state).toBe('completed');
      return go();
    });
    await slow.tasks.submitSerial('q', single('mail', 'a'), undefined, SHORT);
    expect((await cluster.texts()).filter((text) => text.startsWith('{'))).toEqual([]);
  });

  it.each(['claims it', 'looks at its group'])(
    'while it %s does not begin the attempt, although no timer has told it that the lease is over',
    async (step) => {
      const cluster = newCluster();
      const begun: number[] = [];
      const node = worker(cluster, ({ token }) => void begun.push(token), false);
      const { tasks, groups } = node.driver;
      const standStill = () => cluster.time.freeze(LEASE);
      if (step === 'claims it') onceAfterChange(tasks, standStill);
      const started = node.context.events.pipe(filter(({ type }) => type === 'task-started'));
      if (step !== 'claims it') started.pipe(take(1)).subscribe(() => onceAfterRead(groups, standStill));
      const name = grouped('mail', 'june', 1, 1);
      await node.tasks.submit(name, undefined, { maxAttempts: 1, maxCrashes: 1, failGroupFast: true });
      await cluster.time.advance(2 * (LEASE + SWEPT));
      const [late, ...others] = node.of('task-started').map(({ token }) => token);
      expect(begun).toEqual(others);
      expect(others).toHaveLength(1);
      expect(node.of('task-lost')).toMatchObject([{ token: late }]);
      // It has failed and crashed as little as it has begun.
      expect(await node.tasks.find(name)).toMatchObject({ state: 'completed', attempts: 0, crashes: 0 });
    },
  );

  it('while it confirms a tick does not run it, although no timer has told it that the lease is over', async () => {
    const cluster = newCluster();
    const job = new ScheduledJob(cluster);
    const node = job.node();
    const { tasks } = node.driver;
    const started = node.context.events.pipe(filter(({ type }) => type === 'task-started'));
    started.pipe(take(1)).subscribe(() => onceAfterRead(tasks, () => cluster.time.freeze(LEASE)));
    await cluster.time.advance(FIRST - START + LEASE + SWEPT);
    const [late, ...others] = node.of('task-started').map(({ token }) => token);
    expect(job.runs.map(({ context }) => context.token)).toEqual(others);
    expect(others).toHaveLength(1);
    expect(node.of('task-lost')).toMatchObject([{ token: late }]);
  });

  it.each(['a task', 'a group'])('during the preparation of the handler of %s does not call it', async (kind) => {
    const cluster = newCluster();
    const called: number[] = [];
    let prepared = 0;
    const node = cluster.node();
    const handler = preparedHandler(({ token }: { readonly token: number }) => {
      if (++prepared === 1) cluster.time.freeze(LEASE);
      return () => void called.push(token);
    });
    const options = { lease: LEASE, concurrency: 1 };
    node.tasks.handlers.handle('mail', kind === 'a task' ? handler : () => undefined, options);
    if (kind === 'a group') node.tasks.handlers.onGroupFinished('mail', handler, options);
    node.tasks.handlers.start();
    await node.tasks.submit(kind === 'a task' ? single('mail', '1') : grouped('mail', 'june', 1, 1));
    await cluster.time.advance(2 * (LEASE + SWEPT));
    expect(prepared).toBe(2);
    expect(called).toHaveLength(1);
    expect(node.of('task-lost')).toHaveLength(1);
  });
});

/** The answer to the next change of a text is followed by `action`. */
function onceAfterChange(texts: TextCollection, action: () => void): void {
  const letThrough = interceptWrites(texts, 'replace', async (go) => {
    letThrough();
    const isWritten = await go();
    action();
    return isWritten;
  });
}

/** The answer to the next read is followed by `action`. */
function onceAfterRead(texts: TextCollection, action: () => void): void {
  const read = texts.read.bind(texts);
  texts.read = async (key) => {
    texts.read = read;
    const text = await read(key);
    action();
    return text;
  };
}
