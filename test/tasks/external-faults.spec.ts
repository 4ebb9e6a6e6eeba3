import { StoreUnavailableError, UnknownOutcomeError } from 'nestjs-gatekeeper';
import { grouped, single } from '../../lib/tasks/index.js';
import { type TestNode, useCluster } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { LEASE, attemptAt, claimOne, claimed, external, watched } from './external-workers.js';
import { defineLimit, permitsOf } from './limited-nodes.js';
import { goAway } from './store-away.js';

const newCluster = useCluster();
/** ms: longer than the sweep and its turn need. */
const SWEPT = 5000;

const queueOf = ({ store }: TestNode) => store.queue('mail.normal');

/** Ids of the tasks that a worker gets. */
async function ids(node: TestNode, most: number): Promise<string[]> {
  return (await claimed(node, { most })).map(({ task }) => task.id);
}

describe('a hint that this version can not read', () => {
  it.each([
    ['of a newer version', (text: string) => text.replace('"v":1', '"v":2')],
    ['that is corrupt', (text: string) => text.replace('"v":1', '"v":')],
  ])('%s keeps an external worker from no other task', async (_, spoil) => {
    const cluster = newCluster();
    const node = await cluster.node();
    for (const name of ['a', 'b', 'c']) await node.gatekeeper.tasks.submit(single('mail', name));
    const hints = await queueOf(node).drain(10);
    const bad = spoil(hints[0]!.replaceAll('mail:a', 'mail:bad'));
    await queueOf(node).offer([hints[0]!, bad, ...hints.slice(1)]);
    expect(await ids(node, 10)).toEqual(['mail:a', 'mail:b', 'mail:c']);
    const action = 'claim a task whose hint can not be read';
    expect(node.of('problem')).toMatchObject([{ action }]);
    // The sweep of a newer node offers it again.
    expect(await queueOf(node).drain(10)).toEqual([]);
  });

  it('does not end a claim that waits', async () => {
    const cluster = newCluster();
    const node = await cluster.node();
    const { tasks } = node.gatekeeper;
    await tasks.submit(single('mail', 'a'));
    const [hint] = await queueOf(node).drain(1);
    const waiting = claimed(node, { wait: 30_000 });
    await cluster.time.advance(100);
    await queueOf(node).offer([hint!.replace('"v":1', '"v":2')]);
    await cluster.time.advance(100);
    await queueOf(node).offer([hint!]);
    await cluster.time.advance(100);
    expect((await waiting).map(({ task }) => task.id)).toEqual(['mail:a']);
  });
});

it('an error in the middle of a claim takes no task from the worker that it has already', async () => {
  const cluster = newCluster();
  const node = await cluster.node();
  for (const name of ['a', 'b', 'c']) await node.gatekeeper.tasks.submit(single('mail', name));
  const error = new StoreUnavailableError('odd');
  const end = interceptWrites(node.store.tasks, 'replace', (go, { key }) =>
    key === 'mail:b' ? Promise.reject(error) : go(),
  );
  expect(await ids(node, 10)).toEqual(['mail:a']);
  expect(node.of('problem')).toMatchObject([{ action: 'claim tasks for http:paul', error }]);
  // Nothing was claimed that the worker does not hear of.
  await expect(ids(node, 10)).rejects.toBe(error);
  end();
  expect(await ids(node, 10)).toEqual(['mail:b', 'mail:c']);
});

it('a claim of unknown outcome stays unknown in an outage: the worker gets its task when the store is back', async () => {
  const cluster = newCluster();
  const node = await cluster.node();
  await node.gatekeeper.tasks.submit(single('mail', 'a'));
  goAway(node.store, cluster.time, { outage: 3000 });
  const claim = watched(ids(node, 1));
  await cluster.time.advance(LEASE / 2);
  expect(await claim.promise).toEqual(['mail:a']);
});

it.each([
  ['was not applied', new StoreUnavailableError('away'), 'unavailable'],
  ['may have been applied', new UnknownOutcomeError('no answer'), 'unknown-outcome'],
])('a claim whose write %s gives its permit back', async (_, error, code) => {
  const cluster = newCluster();
  const node = await cluster.node({ definitions: [] });
  await defineLimit(node, { permits: 1, duration: '1h' });
  await node.gatekeeper.tasks.submit(single('mail', 'a'));
  let permits = 0;
  interceptWrites(node.store.tasks, 'replace', async () => {
    permits ||= (await permitsOf(cluster)).length;
    throw error;
  });
  const claim = watched(claimed(node));
  await cluster.time.advance(LEASE);
  await expect(claim.promise).rejects.toMatchObject({ code });
  expect([permits, await permitsOf(cluster)]).toEqual([1, []]);
});

describe('the permit of an attempt whose group does not hear of its end', () => {
  /** The only permit, two members of a group, and the attempt at the first one. */
  async function firstMember() {
    const cluster = newCluster();
    const node = await cluster.node({ definitions: [] });
    await defineLimit(node, { permits: 1, duration: '1h' });
    for (const number of [1, 2]) {
      const name = grouped('mail', 'june', number, 2);
      await node.gatekeeper.tasks.submit(name, undefined, { failGroupFast: true });
    }
    return { cluster, node, attempt: attemptAt((await claimOne(node)).task) };
  }

  function refusePages({ store }: TestNode): void {
    interceptWrites(store.groups, ['create', 'replace'], (go, { key }) =>
      key.startsWith('page:') ? Promise.reject(new StoreUnavailableError('away')) : go(),
    );
  }

  it('is freed, and the same call again gets the same answer', async () => {
    const { cluster, node, attempt } = await firstMember();
    refusePages(node);
    // The task has ended: "unavailable" would say that nothing was changed.
    await expect(external(node).complete(attempt, 1)).rejects.toMatchObject({ code: 'unknown-outcome' });
    expect(await permitsOf(cluster)).toEqual([]);
    expect(await external(node).complete(attempt, 1)).toMatchObject({ ending: { outcome: 'completed' } });
    expect((await claimed(node)).map(({ task }) => task.id)).toEqual(['mail[june]#2']);
  });

  it('is freed if the task ended because its group is stopped, and no worker gets the task', async () => {
    const { cluster, node, attempt } = await firstMember();
    // The walk over the members comes too late.
    node.store.tasks.readMany = async () => new Map<string, string>();
    await external(node).fail(attempt, { message: 'no' }, true);
    refusePages(node);
    expect(await claimed(node)).toEqual([]);
    expect(await permitsOf(cluster)).toEqual([]);
    expect(node.of('problem')).toMatchObject([{ action: 'look whether the group of mail[june]#2 is stopped' }]);
  });
});

it('a worker may repeat a call when the time of the next attempt has come, and none has begun', async () => {
  const cluster = newCluster();
  const node = await cluster.node();
  for (const name of ['a', 'b']) await node.gatekeeper.tasks.submit(single('mail', name));
  const [failed, later] = (await claimed(node, { most: 2 })).map(({ task }) => attemptAt(task));
  const calls = [
    () => external(node).fail(failed!, { message: 'no' }, false),
    () => external(node).retryLater(later!, 1000),
  ];
  for (const call of calls) expect(await call()).toMatchObject({ state: 'delayed' });
  await cluster.time.advance(SWEPT);
  for (const call of calls) expect(await call()).toMatchObject({ state: 'waiting' });
  await claimed(node, { most: 2 });
  for (const call of calls) await expect(call()).rejects.toMatchObject({ code: 'lease-expired' });
});

it('a worker may repeat a call when its task was submitted again, or is tried again by hand', async () => {
  const cluster = newCluster();
  const node = await cluster.node();
  const { tasks } = node.gatekeeper;
  for (const name of ['a', 'b']) await node.gatekeeper.tasks.submit(single('mail', name));
  const [done, failed] = (await claimed(node, { most: 2 })).map(({ task }) => attemptAt(task));
  const complete = () => external(node).complete(done!, 'done');
  const fail = () => external(node).fail(failed!, { message: 'no' }, true);
  await Promise.all([complete(), fail()]);
  expect(await tasks.submit(single('mail', done!.id.slice(5)))).toMatchObject({ outcome: 'created' });
  expect(await tasks.retry(failed!.id)).toMatchObject({ outcome: 'retried' });
  for (const call of [complete, fail]) expect(await call()).toMatchObject({ state: 'waiting' });
  await claimed(node, { most: 2 });
  for (const call of [complete, fail]) await expect(call()).rejects.toMatchObject({ code: 'lease-expired' });
});
