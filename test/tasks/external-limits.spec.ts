import { useCluster } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { LEASE, attemptAt, claimOne, claimed, external, request, watched } from './external-workers.js';
import { DURATION, defineLimit, limitedWorker, permitsOf, submitMails } from './limited-nodes.js';

const newCluster = useCluster();

describe('the limit of a type, for workers that are no nodes', () => {
  it('counts the attempts of workers and of nodes together', async () => {
    const cluster = newCluster();
    const node = await limitedWorker(cluster, () => new Promise(() => undefined), { concurrency: 1 });
    const other = await cluster.node({ definitions: [] });
    await defineLimit(node, { permits: 2 });
    await submitMails(node, 4);
    await cluster.time.advance(2000);
    const { tasks, denied } = await external(other).claim(request({ most: 4 }));
    expect([tasks.length, denied]).toMatchObject([1, [{ type: 'mail', reason: 'no-permit' }]]);
    expect(await permitsOf(cluster)).toHaveLength(2);
    await external(other).complete(attemptAt(tasks[0]!.claim.task), 1);
    expect(await permitsOf(cluster)).toHaveLength(1);
  });

  it('is kept by renewals on any node, and lost without them', async () => {
    const cluster = newCluster();
    const [a, b] = [await cluster.node({ definitions: [] }), await cluster.node({ definitions: [] })];
    await defineLimit(a);
    await submitMails(a, 2);
    const { task, remaining } = await claimOne(a, { lease: 60_000 });
    expect(remaining).toBeLessThanOrEqual(DURATION);
    for (let renewal = 0; renewal < 3; renewal++) {
      await cluster.time.advance(DURATION / 2);
      expect(await external(b).renew(attemptAt(task), 60_000)).toMatchObject({ remaining: expect.any(Number) });
      expect(await claimed(a)).toEqual([]);
    }
    await cluster.time.advance(DURATION + 1000);
    expect(await claimed(a)).toHaveLength(1);
    expect(await external(b).renew(attemptAt(task), 60_000)).toEqual({ type: 'mail', reason: 'permit-lost' });
    // The result depends on its lease and token alone.
    await external(b).complete(attemptAt(task), 1);
  });

  it('pauses the type, and a waiting claim goes on when it is resumed', async () => {
    const cluster = newCluster();
    const node = await cluster.node({ definitions: [] });
    await defineLimit(node);
    await node.gatekeeper.definitions.pause('task:mail', { reason: 'slow' });
    await submitMails(node, 1);
    const { denied } = await external(node).claim(request());
    expect(denied).toEqual([{ type: 'mail', reason: 'paused' }]);
    const waiting = watched(claimed(node, { wait: 30_000 }));
    await cluster.time.advance(5000);
    expect(waiting.isOver).toBe(false);
    await node.gatekeeper.definitions.resume('task:mail');
    await cluster.time.advance(1500);
    expect(await waiting.promise).toHaveLength(1);
  });

  it('is asked about seldom while it denies', async () => {
    const cluster = newCluster();
    const node = await cluster.node({ definitions: [] });
    await defineLimit(node, { permits: 0 });
    await submitMails(node, 1);
    const waiting = watched(claimed(node, { wait: 10_000 }));
    await cluster.time.advance(100);
    const before = node.store.calls.read!;
    await cluster.time.advance(9000);
    expect(node.store.calls.read! - before).toBeLessThan(25);
    await cluster.time.advance(2000);
    expect(await waiting.promise).toEqual([]);
  });

  it('gives its permit back if there is no task, or it was taken meanwhile', async () => {
    const cluster = newCluster();
    const node = await cluster.node({ definitions: [] });
    await defineLimit(node, { permits: 5 });
    await submitMails(node, 1);
    // A hint that comes twice.
    const hints = node.store.queue('mail.normal');
    const [hint] = await hints.drain(1);
    await hints.offer([hint!, hint!]);
    expect(await claimed(node, { most: 5 })).toHaveLength(1);
    expect(await permitsOf(cluster)).toHaveLength(1);
  });

  it('gives the permits back of tasks that were claimed while their worker went away', async () => {
    const cluster = newCluster();
    const node = await cluster.node({ definitions: [] });
    await defineLimit(node, { permits: 2, duration: '1h' });
    await submitMails(node, 2);
    const gone = new AbortController();
    let permits = 0;
    let claims = 0;
    interceptWrites(node.store.tasks, 'replace', async (go) => {
      if (++claims === 2) {
        permits = (await permitsOf(cluster)).length;
        gone.abort(new Error('gone'));
      }
      return go();
    });
    await expect(claimed(node, { most: 2, signal: gone.signal })).rejects.toThrow('gone');
    expect([permits, await permitsOf(cluster)]).toEqual([2, []]);
    for (const id of ['mail:0', 'mail:1']) {
      expect(await node.gatekeeper.tasks.find(id)).toMatchObject({ state: 'waiting', crashes: 0 });
    }
  });

  it('needs no permit after it was removed', async () => {
    const cluster = newCluster();
    const node = await cluster.node({ definitions: [] });
    await defineLimit(node);
    await submitMails(node, 1);
    const { task } = await claimOne(node);
    await node.gatekeeper.definitions.remove('task:mail');
    expect(await external(node).renew(attemptAt(task), LEASE)).toMatchObject({ remaining: expect.any(Number) });
  });
});
