import { afterAll } from '@jest/globals';
import { redis } from '../../lib/stores/redis/index.js';
import { lackOfRedis } from '../needs/redis.js';
import { CLIENTS } from '../support/redis-clients.js';
import { RedisServer } from '../support/redis-server.js';
import { describeTaskStorageContract } from './task-storage.contract.js';
import { UNHURRIED } from './unhurried.js';

/** One server for all kinds of clients: the contract's keys and names are random, and so meet nowhere. */
let shared: Promise<RedisServer> | undefined;
const server = () => (shared ??= RedisServer.start());
afterAll(async () => (await shared)?.[Symbol.asyncDispose]());

for (const [name, newClient] of Object.entries(CLIENTS)) {
  describeTaskStorageContract(
    `redis({ client }) of ${name}`,
    async () => {
      const { client, close } = await newClient((await server()).url);
      const store = redis({ client });
      return { open: () => store.open(UNHURRIED), stop: async () => close() };
    },
    lackOfRedis,
  );
}
