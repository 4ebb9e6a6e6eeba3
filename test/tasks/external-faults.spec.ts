import { describe, expect, it } from '@jest/globals';
import { single } from '../../lib/tasks/index.js';
import { type TestNode, useCluster } from '../support/nodes.js';
import { LEASE, claimed, watched } from './external-workers.js';
import { goAway } from './store-away.js';

const newCluster = useCluster();

const queueOf = ({ store }: TestNode) => store.tasks!.queue('mail.normal');

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
  const { tasks } = node.store.tasks!;
  const replace = tasks.replace.bind(tasks);
  const error = new Error('odd');
  tasks.replace = (key, ...texts) => (key === 'mail:b' ? Promise.reject(error) : replace(key, ...texts));
  expect(await ids(node, 10)).toEqual(['mail:a']);
  expect(node.of('problem')).toMatchObject([{ action: 'claim tasks for http:paul', error }]);
  // Nothing was claimed that the worker does not hear of.
  await expect(ids(node, 10)).rejects.toBe(error);
  tasks.replace = replace;
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
