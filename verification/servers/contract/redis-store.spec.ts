import { redis } from '../../../lib/stores/redis/index.js';
import { lackOfRedis } from '../../needs/redis.js';
import { CLIENTS, CLUSTER_CLIENTS } from '../../support/redis-clients.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisServer } from '../../support/redis-server.js';
import { useShared } from '../../support/shared.js';
import { behindProxy } from '../../../test/contract/behind-proxy.js';
import { describeStoreContract } from '../../../test/contract/on-jest.js';

/** One server, and one Cluster, for all kinds of clients: the contract's keys are random, and so meet nowhere. */
const server = useShared(() => RedisServer.start());
const cluster = useShared(() => RedisCluster.start());
const ports = async () => (await cluster()).ports;

describeStoreContract({
  name: 'redis({ url })',
  missing: lackOfRedis,
  prepare: async () => {
    const { port, outage, close } = await behindProxy((await server()).port);
    const store = redis({ url: `redis://127.0.0.1:${port}` });
    return { open: (options) => store.open(options), stop: close, isPagedByPrefix: true, outage };
  },
});

for (const [name, newClient] of Object.entries(CLIENTS)) {
  describeStoreContract({
    name: `redis({ client }) of ${name}`,
    missing: lackOfRedis,
    prepare: async () => {
      const proxy = await behindProxy((await server()).port);
      const { client, close } = await newClient(`redis://127.0.0.1:${proxy.port}`);
      const store = redis({ client });
      const stop = async () => {
        close();
        await proxy.close();
      };
      return { open: (options) => store.open(options), stop, isPagedByPrefix: true, outage: proxy.outage };
    },
  });
}

for (const [name, newClient] of Object.entries(CLUSTER_CLIENTS)) {
  describeStoreContract({
    name: `redis({ client }) of a Cluster, with ${name}`,
    lacks: { outage: 'a Cluster tells its own addresses; redis-cluster-failover.spec.ts kills its servers' },
    missing: lackOfRedis,
    prepare: async () => {
      const { client, close } = await newClient(await ports());
      const store = redis({ client });
      return { open: (options) => store.open(options), stop: async () => close(), isPagedByPrefix: true, members: 3 };
    },
  });
}
