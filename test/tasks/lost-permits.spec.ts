import { StoreUnavailableError } from 'nestjs-gatekeeper';
import { type TestCluster, type TestNode, useCluster } from '../support/nodes.js';
import { interceptWrites } from '../support/writes.js';
import { DURATION, LIMIT, defineLimit, limitedWorker, submitMails } from './limited-nodes.js';

const newCluster = useCluster();
const LEASE = 30_000;

const later = ({ time }: TestCluster, ms: number) => new Promise<void>((done) => void time.schedule(done, ms));

/** The permits of the type, and its tasks, can't be written meanwhile. */
async function outage(cluster: TestCluster, { store }: TestNode, ms: number): Promise<void> {
  const refuse = () => Promise.reject(new StoreUnavailableError('no members'));
  store.script = refuse;
  const letThrough = interceptWrites(store.tasks, 'replace', refuse);
  await cluster.time.advance(ms);
  delete store.script;
  letThrough();
}

describe('an attempt that loses the permit of its type', () => {
  it('keeps its task for as long as its handler works: an operator lowered the limit', async () => {
    const cluster = newCluster();
    let starts = 0;
    const node = await limitedWorker(cluster, () => (starts++, later(cluster, 4 * LEASE)), { lease: LEASE });
    await defineLimit(node, { permits: 4 });
    await submitMails(node, 4);
    await cluster.time.advance(5000);
    await node.gatekeeper.definitions.edit(LIMIT, { permits: 2 });
    await cluster.time.advance(6 * LEASE);
    expect(starts).toBe(4);
    for (const index of [0, 1, 2, 3]) {
      expect(await node.gatekeeper.tasks.find(`mail:${index}`)).toMatchObject({ state: 'completed', crashes: 0 });
    }
    expect(node.of('task-lost')).toEqual([]);
  });

  it('gives its task back when the outage is over that took the permit', async () => {
    const cluster = newCluster();
    let runs = 0;
    const node = await limitedWorker(
      cluster,
      ({ signal }) =>
        runs++ > 0
          ? 'done'
          : new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason as Error))),
      { lease: LEASE },
    );
    await defineLimit(node);
    await submitMails(node, 1);
    await cluster.time.advance(1000);
    await outage(cluster, node, DURATION + 2000);
    await cluster.time.advance(DURATION);
    expect(await node.gatekeeper.tasks.find('mail:0')).toMatchObject({ state: 'completed', crashes: 0, attempts: 0 });
    expect(runs).toBe(2);
    const { tasks } = node.gatekeeper;
    expect(tasks.work.list(tasks.handlers)).toMatchObject([{ type: 'mail', completed: 1, failed: 0 }]);
  });

  it('keeps its result, which depends on the lease only', async () => {
    const cluster = newCluster();
    let runs = 0;
    const node = await limitedWorker(
      cluster,
      async () => {
        runs++;
        await later(cluster, DURATION + 1500);
        return 'result';
      },
      { lease: LEASE },
    );
    await defineLimit(node);
    await submitMails(node, 1);
    await cluster.time.advance(1000);
    await outage(cluster, node, DURATION + 1500);
    await cluster.time.advance(3 * LEASE);
    expect(await node.gatekeeper.tasks.find('mail:0')).toMatchObject({
      state: 'completed',
      result: 'result',
      crashes: 0,
    });
    expect(runs).toBe(1);
  });
});
