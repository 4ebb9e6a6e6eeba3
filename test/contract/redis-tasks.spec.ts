import { afterAll } from '@jest/globals';
import { redis } from '../../lib/stores/redis/index.js';
import { lackOfRedis } from '../needs/redis.js';
import { CLIENTS, CLUSTER_CLIENTS } from '../support/redis-clients.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';
import { describeTaskStorageContract } from './on-jest.js';

/** One server, and one Cluster, for all kinds of clients: the contract's keys and names are random, and so meet nowhere. */
let shared: Promise<RedisServer> | undefined;
const server = () => (shared ??= RedisServer.start());
let cluster: Promise<RedisCluster> | undefined;
const ports = async () => (await (cluster ??= RedisCluster.start())).ports;
afterAll(async () => {
  await (await shared)?.[Symbol.asyncDispose]();
  await (await cluster)?.[Symbol.asyncDispose]();
});

for (const [name, newClient] of Object.entries(CLIENTS)) {
  describeTaskStorageContract({
    name: `redis({ client }) of ${name}`,
    missing: lackOfRedis,
    prepare: async () => {
      const { client, close } = await newClient((await server()).url);
      const store = redis({ client });
      return { open: (options) => store.open(options), stop: async () => close() };
    },
  });
}

for (const [name, newClient] of Object.entries(CLUSTER_CLIENTS)) {
  describeTaskStorageContract({
    name: `redis({ client }) of a Cluster, with ${name}`,
    missing: lackOfRedis,
    prepare: async () => {
      const { client, close } = await newClient(await ports());
      const store = redis({ client });
      return { open: (options) => store.open(options), stop: async () => close() };
    },
  });
}
