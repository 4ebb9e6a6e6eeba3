import { InvalidTaskError, type TaskFunction, single } from '../../lib/tasks/index.js';
import { SWEPT, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'order-7');
const FAST = { backoff: { first: 1, longest: 1 } };

interface Mail {
  to: string[];
}

/** Adds to the data that it got, in place. */
const spoil = (data: unknown) => void (data as Mail).to.push('spoiled@example.com');

describe('a handler that changes the data of its task', () => {
  const submitted = async (handler: TaskFunction) => {
    const cluster = newCluster();
    const node = worker(cluster, handler);
    await node.tasks.submit(NAME, { to: ['ann@example.com'] }, FAST);
    await cluster.time.advance(SWEPT);
    return node;
  };

  it('does not change them for the next attempt', async () => {
    const seen: string[] = [];
    await submitted(({ data, attempt }) => {
      seen.push(JSON.stringify(data));
      spoil(data);
      if (attempt < 3) throw new Error('no connection');
    });
    expect(seen).toEqual(Array(3).fill('{"to":["ann@example.com"]}'));
  });

  it.each([
    ['completes', () => 'sent'],
    ['gives up', () => Promise.reject(new InvalidTaskError('no such address'))],
  ])('does not change them in the store when it %s', async (_how, end) => {
    const node = await submitted(({ data }) => {
      spoil(data);
      return end();
    });
    expect(await node.tasks.find(NAME)).toMatchObject({ data: { to: ['ann@example.com'] } });
  });

  it('does not change them for the handler of invalid tasks', async () => {
    const cluster = newCluster();
    const node = worker(cluster, ({ data }) => {
      spoil(data);
      throw new InvalidTaskError('no such address');
    });
    let told: unknown;
    node.tasks.handlers.onInvalid(({ data }) => void (told = data));
    await node.tasks.submit(NAME, { to: ['ann@example.com'] });
    await cluster.time.advance(SWEPT);
    expect(told).toEqual({ to: ['ann@example.com'] });
  });

  it('can make it something that is no JSON', async () => {
    const node = await submitted(({ data }) => void ((data as { self?: unknown }).self = data));
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'completed', data: { to: ['ann@example.com'] } });
  });

  it('does not change them when it reports its progress', async () => {
    const node = await submitted(async ({ data, progress, signal }) => {
      spoil(data);
      progress(1, 2);
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
    });
    expect(await node.tasks.find(NAME)).toMatchObject({ progress: { done: 1 }, data: { to: ['ann@example.com'] } });
  });
});
