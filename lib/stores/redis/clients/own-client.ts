import redisClients from '../../../../load-redis-clients.cjs';
import { RECONNECT, pauseAfter } from '../../../core/async/backoff.js';
import { MissingPackageError } from '../../../core/decision/missing-package.error.js';
import { type IoredisClient, IoredisAdapter } from './ioredis.js';
import { type NodeRedisClient, NodeRedisAdapter, open } from './node-redis.js';
import type { RedisClient } from './redis-client.js';

/** ms. A server that is gone without a word would otherwise be noticed after a quarter of an hour. */
const SILENCE = 10_000;
const CONNECT_TIMEOUT = 5000;

/** Makes a client for a URL, with the package that is installed. */
export type ClientMaker = (url: string) => RedisClient;

type Ioredis = NonNullable<ReturnType<typeof redisClients.loadIoredis>>;
type NodeRedis = NonNullable<ReturnType<typeof redisClients.loadNodeRedis>>;

/**
 * Looks for a package at the start: later, nothing could run without a client.
 *
 * @throws MissingPackageError if neither ioredis nor redis is installed
 */
export function findMaker({ loadIoredis, loadNodeRedis }: typeof redisClients = redisClients): ClientMaker {
  const ioredis = loadIoredis();
  if (ioredis) return (url) => ofIoredis(ioredis, url);
  const nodeRedis = loadNodeRedis();
  if (nodeRedis) return (url) => ofNodeRedis(nodeRedis, url);
  throw new MissingPackageError('redis({ url }) needs a client: npm install ioredis (or: npm install redis)');
}

/** It sends nothing twice, and nothing late: so errors are exact, and come at once. */
function ofIoredis({ Redis }: Ioredis, url: string): RedisClient {
  const client = new Redis(url, {
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT,
    socketTimeout: SILENCE,
    retryStrategy: (attempts: number) => pauseAfter(attempts - 1, Math.random(), RECONNECT),
  });
  return new IoredisAdapter(client as IoredisClient, true);
}

function ofNodeRedis({ createClient }: NodeRedis, url: string): RedisClient {
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: SILENCE / 2,
    socket: {
      connectTimeout: CONNECT_TIMEOUT,
      socketTimeout: SILENCE,
      reconnectStrategy: (failures: number) => pauseAfter(failures, Math.random(), RECONNECT),
    },
  }) as NodeRedisClient & { connect(): Promise<unknown> };
  const adapter = new NodeRedisAdapter(client, true);
  open(client);
  return adapter;
}
