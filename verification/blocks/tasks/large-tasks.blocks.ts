import { grouped, single } from 'nestjs-gatekeeper';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { eventually } from '../../../test/contract/eventually.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { LARGE, WatchedNode, storesOf } from './watched-node.js';

const STORES = ['memory', 'hazelcast'] as const;
const TASKS = 1000;
/** ms */
const RETENTION = 60_000;
const PATIENCE = 2 * RETENTION;
/** Bytes of ended tasks; the least that is allowed. */
const RETAINED = 1_048_576;
const WORKER = { instance: 'http:worker', acquirer: 'worker' };
const EACH = { isWanted: () => true, limit: 100 };

describeOnHazelcast('1,000 tasks with the largest data and results never block the event loop for 20 ms', () => {
  let cluster: HazelcastCluster;
  let node: WatchedNode;
  const stores = storesOf(() => cluster);
  beforeAll(async () => {
    cluster = await startHazelcast({ jvmArgs: ['-Xmx1500m'] });
  });
  afterEach(() => node?.close());
  afterAll(() => cluster?.stop());

  it.each(STORES)(
    'that work, and are forgotten, on %s',
    async (store) => {
      node = await WatchedNode.start({ store: stores[store]() });
      const { tasks } = node;
      await node.step('submit', () =>
        tasks.submitMany(
          Array.from({ length: TASKS }, (_, index) => ({
            name: grouped('large', 'group', index + 1, TASKS),
            data: LARGE,
            options: { retention: RETENTION, priority: 'low' as const },
          })),
        ),
      );
      await node.step('work', async () => {
        const joined = new Promise<number>((resolve, reject) => {
          tasks.handlers.onGroupFinished('large', async (group) => {
            let characters = 0;
            for await (const { result } of group.members()) characters += (result as string).length;
            resolve(characters);
          });
          tasks.handlers.handle('large', () => LARGE, { concurrency: 16 });
          tasks.handlers.start();
          setTimeout(() => reject(new Error('the group did not end')), 100_000).unref();
        });
        expect(await joined).toBe(TASKS * LARGE.length);
      });
      await node.step('list', async () => {
        const { groups } = await tasks.open();
        const page = await groups.page('large', 'group', 1, 100);
        expect(page?.members).toHaveLength(100);
        expect((await groups.search(EACH)).groups).toHaveLength(1);
      });
      await node.step('forget', () =>
        eventually(
          'all are forgotten',
          async () => (await tasks.find(`large[group]#${TASKS}`)) === undefined,
          PATIENCE,
        ),
      );
      console.log(store, node.summary);
      expect(node.problems).toEqual([]);
      expect(node.tooLong).toEqual([]);
    },
    2 * PATIENCE,
  );

  it.each(STORES)(
    'that the sweep lets wait, moves to other nodes, and removes early, and programs work on, on %s',
    async (store) => {
      node = await WatchedNode.start({ store: stores[store](), tasks: { maxRetainedBytes: RETAINED } });
      const { tasks } = node;
      const named = (type: string, count: number, options?: object) =>
        Array.from({ length: count }, (_, index) => ({
          name: single(type, String(index)),
          data: LARGE,
          ...(options && { options }),
        }));
      await node.step('submit', () => tasks.submitMany(named('due', TASKS, { runAt: '3s' })));
      await node.step('distribute', () => tasks.distribute(named('moved', TASKS / 4), { over: ['gone', 'lost'] }));
      await node.step('list', async () => {
        const lists = await Promise.all(
          (['waiting', 'delayed'] as const).map((state) => tasks.list({ state, ...EACH })),
        );
        expect(lists.map(({ tasks: page }) => page.length)).toEqual([expect.any(Number), expect.any(Number)]);
        expect((await tasks.waitingTypes()).types).toHaveLength(1);
      });
      await node.step('move', async () => {
        let left = TASKS / 4;
        const moved = new Promise<void>((resolve) => {
          tasks.handlers.handle('moved', () => {
            if (--left === 0) resolve();
          });
        });
        tasks.handlers.start();
        await moved;
      });
      await node.step('claim', async () => {
        let left = TASKS;
        const { external } = await tasks.open();
        const worker = async () => {
          while (left > 0) {
            const request = { worker: WORKER, types: ['due'], most: 100, lease: 30_000, wait: 1000 };
            const claims = await external.claim({ ...request, signal: new AbortController().signal });
            left -= claims.tasks.length;
            for (const { claim } of claims.tasks) {
              const { id, token } = claim.task;
              await external.complete({ id, token, instance: WORKER.instance }, LARGE);
            }
          }
        };
        await Promise.all([worker(), worker(), worker(), worker()]);
      });
      await node.step('remove early', () =>
        eventually('most are gone', async () => (await tasks.find(`due:${TASKS / 2}`)) === undefined, PATIENCE),
      );
      console.log(store, node.summary);
      expect(node.problems).toEqual([]);
      expect(node.tooLong).toEqual([]);
    },
    2 * PATIENCE,
  );
});
