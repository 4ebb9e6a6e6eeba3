import { UnknownOutcomeError, grouped, single } from 'nestjs-gatekeeper';
import { interceptWrites } from '../support/writes.js';
import { LEASE, type TaskNode, SWEPT, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();

/** The hints that a node offers from now on without a write. */
function countOffers({ driver }: TaskNode): readonly string[] {
  const offered: string[] = [];
  const queue = driver.queue.bind(driver);
  driver.queue = (name) => {
    const hints = queue(name);
    const offer = hints.offer.bind(hints);
    return Object.assign(hints, { offer: (some: readonly string[]) => (offered.push(...some), offer(some)) });
  };
  return offered;
}

const hintsIn = ({ driver }: TaskNode) => driver.queue('mail.normal').size();

it('the hint of a task goes with its write, so that no crash comes between the two', async () => {
  const node = newCluster().node();
  const offered = countOffers(node);
  await node.tasks.submit(single('mail', 'one'));
  await node.tasks.submitMany([
    { name: single('mail', 'two') },
    { name: grouped('mail', 'all', 1, 1) },
    { name: single('mail', 'fair'), options: { fairKey: 'customer' } },
  ]);
  expect(await hintsIn(node)).toBe(4);
  expect(offered).toEqual([]);
});

it('a task that waits again, after a failure or by hand, has its hint with that write, too', async () => {
  const cluster = newCluster();
  const attempts: string[] = [];
  const node = worker(cluster, ({ id }) => {
    attempts.push(id);
    if (attempts.length < 3) throw new Error('no');
  });
  const offered = countOffers(node);
  await node.tasks.submit(single('mail', 'one'), undefined, { maxAttempts: 2, backoff: { first: '1s' } });
  await cluster.time.advance(SWEPT);
  expect(attempts).toHaveLength(2);
  await node.tasks.retry(attempts[0]!);
  await cluster.time.advance(1000);
  expect(attempts).toHaveLength(3);
  expect(offered).toEqual([]);
});

it('a task that is changed while it waits gets no other hint', async () => {
  const node = newCluster().node();
  const offered = countOffers(node);
  const { id } = await node.tasks.submit(single('mail', 'one'));
  await node.tasks.submit(single('mail', 'two'), undefined, { after: [id] });
  expect(await hintsIn(node)).toBe(1);
  expect(offered).toEqual([]);
});

it('a hint is offered again if only a look shows that its task was written: the store may not have come to it', async () => {
  const node = newCluster().node();
  const offered = countOffers(node);
  const write = node.driver.tasks.compareAndSet.bind(node.driver.tasks);
  const stop = interceptWrites(node.driver.tasks, 'create', async (_go, { key, expected, next }) => {
    stop();
    await write(key, expected, next);
    throw new UnknownOutcomeError('no answer');
  });
  const { outcome } = await node.tasks.submit(single('mail', 'one'));
  expect(outcome).toBe('created');
  expect(offered).toHaveLength(1);
  expect(await hintsIn(node)).toBe(1);
});

it('a task that was given back by a call without an answer gets its hint with the next try', async () => {
  const cluster = newCluster();
  const node = cluster.node();
  await node.tasks.submit(single('mail', 'one'));
  const hint = await node.driver.queue('mail.normal').poll(0, new AbortController().signal);
  const claim = (await node.store.claim(hint!, LEASE))!;
  // A store that writes in two steps, and hangs after the first one.
  const { tasks } = node.driver;
  const write = tasks.compareAndSet.bind(tasks);
  tasks.compareAndSet = async (key, expected, next) => {
    await write(key, expected, next);
    return new Promise<never>(() => undefined);
  };
  const givenBack = node.store.giveBack(claim).catch((error: unknown) => error);
  await cluster.time.advance(10_000);
  expect(await givenBack).toBeInstanceOf(UnknownOutcomeError);
  tasks.compareAndSet = write;
  expect(await hintsIn(node)).toBe(0);
  await node.store.giveBack(claim);
  expect(await hintsIn(node)).toBe(1);
});
