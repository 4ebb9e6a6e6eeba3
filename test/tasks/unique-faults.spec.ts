import { UnknownOutcomeError } from 'nestjs-gatekeeper';
import { single } from '../../lib/tasks/index.js';
import { interceptWrites } from '../support/writes.js';
import { slow } from './slow-node.js';
import { LEASE, SWEPT, loseAfter, useTaskCluster } from './task-nodes.js';

const newCluster = useTaskCluster();
const NAME = single('mail', 'customer-7');
const KEPT = { unique: { during: 'waiting' } } as const;
const REPLACED = { unique: { during: 'waiting', onConflict: 'replace' } } as const;

describe('a unique submission under faults', () => {
  it.each(['created', 'replaced', 'next'])('answers rightly when the answer of its write is lost: %s', async (kind) => {
    const cluster = newCluster();
    const { node, end } = slow(cluster);
    if (kind !== 'created') await node.tasks.submit(NAME, 1, kind === 'replaced' ? { runAt: '1h' } : {});
    await cluster.time.advance(100);
    const other = cluster.node();
    let isLost = true;
    interceptWrites(other.driver.tasks, ['create', 'replace'], async (go) => {
      const isWritten = await go();
      if (!isLost) return isWritten;
      isLost = false;
      throw new UnknownOutcomeError('no answer');
    });
    const submitting = other.tasks.submit(NAME, 2, REPLACED);
    await cluster.time.advance(1000);
    expect(await submitting).toMatchObject({ outcome: kind === 'replaced' ? 'replaced' : 'created' });
    if (kind === 'next') await end();
    await cluster.time.advance(SWEPT);
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'running', data: 2 });
  });

  it('knows its write again when others wait for the task, and a node has gone on from it', async () => {
    const cluster = newCluster();
    const { node } = slow(cluster);
    await node.tasks.submit(NAME, 1, { runAt: '1h' });
    await node.tasks.submit(single('other', 'later'), 1, { after: [NAME] });
    const other = cluster.node();
    let isLost = true;
    interceptWrites(other.driver.tasks, 'replace', async (go) => {
      const isWritten = await go();
      if (!isLost) return isWritten;
      isLost = false;
      // This one offers a hint, and the task begins.
      await node.tasks.submit(single('other', 'latest'), 1, { after: [NAME] });
      // The test moves time meanwhile.
      await new Promise<void>((resolve) => cluster.time.schedule(resolve, 100));
      throw new UnknownOutcomeError('no answer');
    });
    const submitting = other.tasks.submit(NAME, 2, REPLACED);
    await cluster.time.advance(SWEPT + 1000);
    expect(await submitting).toMatchObject({ outcome: 'replaced' });
    expect(await node.tasks.find(NAME)).toMatchObject({ state: 'running', data: 2, attempts: 0 });
    const text = (await cluster.texts()).find((each) => each.includes('"id":"mail:customer-7"'));
    expect(text).not.toContain('"next"');
  });

  // The first write is refused: it does not know the next life yet.
  it.each([2, 3, 4])('does not lose the next life when the node is lost after %d writes of the end', async (writes) => {
    const cluster = newCluster();
    const { node, end } = slow(cluster);
    await node.tasks.submit(NAME, 1);
    await cluster.time.advance(100);
    await cluster.node().tasks.submit(NAME, 2, KEPT);
    loseAfter(node, writes);
    const rescuer = slow(cluster);
    await end();
    await cluster.time.advance(3 * LEASE + 2 * SWEPT);
    expect(rescuer.ran).toEqual([2]);
  });

  it('accepts a result although the next life has begun when the answer comes', async () => {
    const cluster = newCluster();
    const { node, end } = slow(cluster);
    await node.tasks.submit(NAME, 1);
    await cluster.time.advance(100);
    const other = cluster.node();
    await other.tasks.submit(NAME, 2, KEPT);
    const letThrough = interceptWrites(node.driver.tasks, 'replace', async (go, { key, next }) => {
      letThrough();
      await go();
      await other.store.settle((await other.store.find(key))!, next!);
      throw new UnknownOutcomeError('no answer');
    });
    await end();
    await cluster.time.advance(SWEPT);
    expect(node.of('task-lost')).toEqual([]);
    expect(node.of('task-ended')).toHaveLength(1);
  });
});
