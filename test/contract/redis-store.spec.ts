import { afterAll } from '@jest/globals';
import { redis } from '../../lib/stores/redis/index.js';
import { lackOfRedis } from '../needs/redis.js';
import { CLIENTS, CLUSTER_CLIENTS } from '../support/redis-clients.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { describeStoreContract } from './store.contract.js';
import { UNHURRIED } from './unhurried.js';

/** One server, and one Cluster, for all kinds of clients: the contract's keys are random, and so meet nowhere. */
let shared: Promise<RedisServer> | undefined;
const server = () => (shared ??= RedisServer.start());
let cluster: Promise<RedisCluster> | undefined;
const ports = async () => (await (cluster ??= RedisCluster.start())).ports;
afterAll(async () => {
  await (await shared)?.[Symbol.asyncDispose]();
  await (await cluster)?.[Symbol.asyncDispose]();
});

describeStoreContract(
  'redis({ url })',
  async () => {
    const store = redis({ url: (await server()).url });
    return { open: () => store.open(UNHURRIED), stop: async () => undefined, isPagedByPrefix: true };
  },
  lackOfRedis,
);

for (const [name, newClient] of Object.entries(CLIENTS)) {
  describeStoreContract(
    `redis({ client }) of ${name}`,
    async () => {
      const { client, close } = await newClient((await server()).url);
      const store = redis({ client });
      return { open: () => store.open(UNHURRIED), stop: async () => close(), isPagedByPrefix: true };
    },
    lackOfRedis,
  );
}

for (const [name, newClient] of Object.entries(CLUSTER_CLIENTS)) {
  describeStoreContract(
    `redis({ client }) of a Cluster, with ${name}`,
    async () => {
      const { client, close } = await newClient(await ports());
      const store = redis({ client });
      return { open: () => store.open(UNHURRIED), stop: async () => close(), isPagedByPrefix: true, members: 3 };
    },
    lackOfRedis,
  );
}
