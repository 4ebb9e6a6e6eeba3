import { memory } from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { redis } from 'nestjs-gatekeeper/redis';
import { PostgresServer, lackOfPostgres } from '../archives/postgres-server.js';
import { lackOfRedis } from '../../needs/redis.js';
import { CLIENTS } from '../../support/redis-clients.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeNodesContract } from './nodes.contract.js';

const servers: AsyncDisposable[] = [];
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
});

describeNodesContract('memory()', async () => ({ store: memory(), stop: async () => undefined }));

describeNodesContract(
  'postgres()',
  async () => {
    const server = await PostgresServer.start();
    servers.push(server);
    return { store: postgres({ connectionString: server.address() }), stop: async () => undefined };
  },
  lackOfPostgres,
);

for (const name of ['ioredis', 'node-redis 5']) {
  describeNodesContract(
    `redis() of ${name}`,
    async () => {
      const server = await RedisServer.start();
      servers.push(server);
      const { client, close } = await CLIENTS[name]!(server.url);
      return { store: redis({ client }), stop: async () => close() };
    },
    lackOfRedis,
  );
}
