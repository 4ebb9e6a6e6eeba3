import { redis } from '../../../lib/stores/redis/index.js';
import { describeOnRedis } from '../../needs/redis.js';
import { useEnds } from '../../support/ends.js';
import { CLUSTER_CLIENTS } from '../../support/redis-clients.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { eventually } from '../../../test/contract/eventually.js';

/** Enough for all servers to have some. */
const KEYS = Array.from({ length: 40 }, (_, index) => `key ${index}`);
/** ms in which a store connects again: on a busy machine several attempts may fail, between which it waits longer and longer. */
const PATIENCE = 60_000;

describeOnRedis('a Cluster whose primary is gone for good', () => {
  const ends = useEnds();
  const newCluster = async (options?: { hasReplicas: boolean }) => {
    const cluster = await RedisCluster.start(options);
    ends.push(() => cluster[Symbol.asyncDispose]());
    return cluster;
  };
  const connected = async (cluster: RedisCluster, kind: string) => {
    const { client, close } = await CLUSTER_CLIENTS[kind]!(cluster.ports);
    ends.push(close);
    const store = redis({ client }).open({ callTimeout: 2000 });
    ends.push(() => store.close());
    await eventually('connected', () => store.health().connected);
    const heard = new Set<string | undefined>();
    await store.watch('', ({ key }) => heard.add(key));
    return { store, heard };
  };

  it.each(Object.keys(CLUSTER_CLIENTS))(
    'works on with the replica that took over, and hears of changes (%s)',
    async (kind) => {
      const cluster = await newCluster({ hasReplicas: true });
      const { store, heard } = await connected(cluster, kind);
      for (const key of KEYS) expect(await store.records.compareAndSet(key, undefined, 'before')).toBe(true);
      const victim = await messengerOf(cluster);
      await cluster.servers[victim]!.kill();
      await cluster.replicas[victim]!.command('CLUSTER', 'FAILOVER', 'TAKEOVER');
      const read = async () => {
        for (const key of KEYS) await store.records.read(key);
      };
      await eventually('all records can be read', read, PATIENCE);
      await eventually('anything may have changed', () => heard.has(undefined));
      await eventually('changes are heard', async () => {
        for (const key of KEYS)
          await store.records.compareAndSet(key, await store.records.read(key), `after ${performance.now()}`);
        return KEYS.every((key) => heard.has(key));
      });
      expect(store.health()).toMatchObject({ connected: true, members: 3 });
    },
  );

  it.each(['node-redis 5', 'node-redis 4'])(
    'is not connected while none took over, and says why (%s)',
    async (kind) => {
      const cluster = await newCluster();
      const { store } = await connected(cluster, kind);
      await cluster.servers[0]!.kill();
      await eventually('the reason', () => store.health().problem?.includes('ECONNREFUSED') === true);
      expect(store.health().connected).toBe(false);
    },
  );

  it('is not needed for a lost connection for messages: then anything may have changed, too', async () => {
    const cluster = await newCluster();
    for (const kind of Object.keys(CLUSTER_CLIENTS)) {
      const { heard } = await connected(cluster, kind);
      for (const server of cluster.servers) await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
      await eventually(`anything may have changed (${kind})`, () => heard.has(undefined));
    }
  });
});

/** The primary that has the connection for messages. */
async function messengerOf({ servers }: RedisCluster): Promise<number> {
  const lists = await Promise.all(servers.map((server) => server.command('CLIENT', 'LIST', 'TYPE', 'pubsub')));
  return lists.findIndex((list) => String(list).includes('id='));
}
