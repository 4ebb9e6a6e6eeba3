import { memory } from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { redis } from 'nestjs-gatekeeper/redis';
import { PostgresServer, lackOfPostgres } from '../archives/postgres-server.js';
import { lackOfRedis } from '../../needs/redis.js';
import { CLIENTS } from '../../support/redis-clients.js';
import { RedisServer } from '../../support/redis-server.js';
import { describeOperatorsContract } from './operators.contract.js';

const servers: AsyncDisposable[] = [];
afterAll(async () => {
  for (const server of servers) await server[Symbol.asyncDispose]();
});
const NOTHING_TO_STOP = async () => undefined;

describeOperatorsContract('memory()', async () => ({ store: memory(), stop: NOTHING_TO_STOP }));

describeOperatorsContract(
  'postgres()',
  async () => {
    const server = await PostgresServer.start();
    servers.push(server);
    return { store: postgres({ connectionString: server.address() }), stop: NOTHING_TO_STOP };
  },
  lackOfPostgres,
);

describeOperatorsContract(
  'redis()',
  async () => {
    const server = await RedisServer.start();
    servers.push(server);
    const { client, close } = await CLIENTS['ioredis']!(server.url);
    return { store: redis({ client }), stop: async () => close() };
  },
  lackOfRedis,
);
