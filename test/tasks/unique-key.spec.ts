import { describe, expect, it } from '@jest/globals';
import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { defineTask, grouped, single } from '../../lib/tasks/index.js';
import { useTaskCluster, worker } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'customer-7');
const KEPT = { unique: { during: 'waiting' } } as const;

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
    { options: { unique: { key: '' } }, fault: 'name: "" is not a text' },
    { options: { unique: { key: () => 7 } }, fault: 'name: 7 is not a text' },
    { options: { unique: { key: 7 } }, fault: 'unique.key: 7 is neither a text nor a function of the data' },
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
