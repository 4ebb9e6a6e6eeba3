import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { firstValueFrom, filter } from 'rxjs';
import { Gatekeeper, grouped, hazelcast, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { type HazelcastCluster, startHazelcast } from 'nestjs-gatekeeper/testing';
import { LongestBlock } from '../console/longest-block.js';
import { eventually } from '../contract/eventually.js';
import { describeOnHazelcast } from '../needs/members.js';

/** ms; what nothing may take up of the event loop in one go. */
const LIMIT = 20;
const TASKS = 1000;
/** Nearly the largest data, and the largest result, that are allowed unless the options say otherwise. */
const LARGE = 'x'.repeat(64 * 1024 - 100);
const QUIET = { log() {}, warn() {}, error() {}, debug() {} };
const RETENTION = 60_000;

describeOnHazelcast('1,000 tasks with the largest data and results', () => {
  let cluster: HazelcastCluster;
  beforeAll(async () => {
    cluster = await startHazelcast({ jvmArgs: ['-Xmx1g'] });
  });
  afterAll(() => cluster?.stop());

  const stores = {
    memory: () => memory(),
    hazelcast: () => hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses, mapName: randomUUID() }),
  };

  it.each(['memory', 'hazelcast'] as const)(
    'never block the event loop for 20 ms on %s',
    async (store) => {
      const settings = parseGatekeeperOptions({ store: stores[store](), acquirer: 'node' });
      const gatekeeper = new Gatekeeper(settings, QUIET);
      await gatekeeper.start();
      await gatekeeper.ready();
      const { tasks } = gatekeeper;
      const over = firstValueFrom(gatekeeper.events$.pipe(filter(({ type }) => type === 'problem')));
      let problem: unknown;
      over.then((event) => (problem ??= event)).catch(() => undefined);
      const block = new LongestBlock();
      const longest: Record<string, number> = {};
      const measured = async (step: string, work: () => Promise<unknown>) => {
        block.take();
        await work();
        longest[step] = Math.round(block.take() * 10) / 10;
      };
      try {
        await measured('submit', () =>
          tasks.submitMany(
            Array.from({ length: TASKS }, (_, index) => ({
              name: grouped('large', 'group', index + 1, TASKS),
              data: LARGE,
              options: { retention: RETENTION, priority: 'low' as const },
            })),
          ),
        );
        await measured('work', async () => {
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
        await measured('forget', () =>
          eventually(
            'all are forgotten',
            async () => (await tasks.find(`large[group]#${TASKS}`)) === undefined,
            2 * RETENTION,
          ),
        );
        console.log(store, longest);
        expect(problem).toBeUndefined();
        expect(Object.entries(longest).filter(([, ms]) => ms >= LIMIT)).toEqual([]);
      } finally {
        block.close();
        await gatekeeper.close();
      }
    },
    240_000,
  );
});
