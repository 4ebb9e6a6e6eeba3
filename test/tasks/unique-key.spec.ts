import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { defineTask, grouped, single } from '../../lib/tasks/index.js';
import { SWEPT, useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'customer-7');
const KEPT = { unique: { during: 'waiting' } } as const;

describe('a unique submission of a task that waits for more than a node', () => {
  it('leaves a blocked task blocked, with the new data', async () => {
    const cluster = newCluster();
    const ran: unknown[] = [];
    const node = cluster.node();
    await node.tasks.submit(single('other', 'first'));
    await node.tasks.submit(NAME, 1, { after: ['other:first'] });
    const replaced = await node.tasks.submit(NAME, 2, { unique: { onConflict: 'replace' } });
    expect(replaced).toMatchObject({ outcome: 'replaced' });
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'blocked', data: 2, after: ['other:first'] });
    node.tasks.handlers.handle('mail', ({ data }) => void ran.push(data));
    node.tasks.handlers.start();
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual([]);
    node.tasks.handlers.handle('other', () => undefined);
    await cluster.time.advance(SWEPT);
    expect(ran).toEqual([2]);
  });

  it('does not lose the sub-tasks of a former attempt', async () => {
    const cluster = newCluster();
    const ran: unknown[] = [];
    const node = cluster.node();
    node.tasks.handlers.handle('mail', async ({ data, submit, attempt }) => {
      await submit(single('part', 'a'), data);
      if (data === 1 && attempt === 1) throw new Error('failed');
    });
    await node.tasks.submit(NAME, 1, { backoff: { first: '1m', longest: '1m' }, retention: 60_000 });
    node.tasks.handlers.start();
    await cluster.time.advance(1000);
    const answer = await node.tasks.submit(NAME, 2, {
      unique: { during: 'waiting', onConflict: 'replace' },
      retention: 60_000,
    });
    expect(answer).toMatchObject({ outcome: 'created' });
    node.tasks.handlers.handle('part', ({ data }) => void ran.push(data));
    await cluster.time.advance(120_000 + SWEPT);
    expect(ran).toEqual([1, 2]);
    await cluster.time.advance(2 * 3_600_000 + SWEPT);
    expect(await cluster.texts()).toEqual([]);
  });
});

describe('the key of a unique submission', () => {
  it('is the name of the task, given or made of the data', async () => {
    const cluster = newCluster();
    const { tasks } = cluster.node();
    const reindex = defineTask<{ shop: string }>('reindex', {
      unique: { key: ({ shop }: { shop: string }) => `shop-${shop}`, onConflict: 'replace' },
    });
    const first = await tasks.submit(single(reindex, 'any'), { shop: 'A' }, undefined);
    const second = await tasks.submit(single(reindex, 'other'), { shop: 'A' });
    expect([first, second]).toMatchObject([
      { id: 'reindex:shop-A', outcome: 'created' },
      { id: 'reindex:shop-A', outcome: 'replaced' },
    ]);
    expect(await tasks.submit(NAME, 1, { unique: { key: 'k' } })).toMatchObject({ id: 'mail:k' });
  });

  it.each([
    { options: { unique: { key: '' } }, fault: 'unique.key: "" is empty' },
    { options: { unique: { key: () => 7 } }, fault: 'unique.key: 7 is not' },
    { options: { unique: { key: 7 } }, fault: 'unique.key: 7 is neither' },
    { options: { unique: { during: 'x' } }, fault: 'unique.during: "x" is not "waiting" or "unfinished"' },
    { options: { unique: { onConflict: 1 } }, fault: 'unique.onConflict: 1 is not "keep" or "replace"' },
    { options: { unique: { until: 1 } }, fault: 'until' },
    { options: { unique: true }, fault: 'unique: ' },
  ])('$fault', async ({ options, fault }) => {
    const submitting = newCluster()
      .node()
      .tasks.submit(NAME, 1, options as never);
    await expect(submitting).rejects.toThrow(InvalidOptionsError);
    await expect(submitting).rejects.toThrow(fault);
  });

  it('is refused of a member of a group, a task of a queue, one that waits for others, and a sub-task', async () => {
    const cluster = newCluster();
    const failures: unknown[] = [];
    const node = worker(cluster, ({ submit }) =>
      submit(single('mail', 'sub'), 1, KEPT).catch((error) => void failures.push(error)),
    );
    await expect(node.tasks.submit(grouped('mail', 'g', 1), 1, KEPT)).rejects.toThrow('a member of a group');
    await expect(node.tasks.submitSerial('q', NAME, 1, KEPT)).rejects.toThrow('a task of a queue keeps its place');
    const after = { ...KEPT, after: ['mail:other'] };
    await expect(node.tasks.submit(NAME, 1, after)).rejects.toThrow('a unique task waits for no other tasks');
    await node.tasks.submit(NAME);
    await cluster.time.advance(100);
    expect(failures).toEqual([expect.objectContaining({ message: expect.stringContaining('a sub-task') })]);
  });
});
