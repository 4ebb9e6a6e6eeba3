import { createRequire } from 'node:module';
import { join } from 'node:path';
import packageRoot from '../../../../package-root.cjs';
import { RECONNECT, pauseAfter } from '../../../async/backoff.js';
import { MissingPackageError } from '../../../decision/missing-package.error.js';
import { type IoredisClient, IoredisAdapter } from './ioredis.js';
import { type NodeRedisClient, NodeRedisAdapter, open } from './node-redis.js';
import type { RedisClient } from './redis-client.js';

/** Variables, so that compilers and bundlers do not look for packages that may not be installed. */
const IOREDIS: string = 'ioredis';
const NODE_REDIS: string = 'redis';

/** ms. A server that is gone without a word would otherwise be noticed after a quarter of an hour. */
const SILENCE = 10_000;
const CONNECT_TIMEOUT = 5000;

/** Makes a client for a URL, with whichever package is installed. */
export type ClientMaker = (url: string) => Promise<RedisClient>;

/**
 * Looks for a package at the start: later, nothing could run without a client.
 *
 * @throws MissingPackageError if neither ioredis nor redis is installed
 */
export function findMaker(
  resolve: (name: string) => unknown = createRequire(join(packageRoot, 'package.json')).resolve,
): ClientMaker {
  if (isInstalled(IOREDIS, resolve)) return ofIoredis;
  if (isInstalled(NODE_REDIS, resolve)) return ofNodeRedis;
  throw new MissingPackageError('redis({ url }) needs a client: npm install ioredis (or: npm install redis)');
}

function isInstalled(name: string, resolve: (name: string) => unknown): boolean {
  try {
    resolve(name);
    return true;
  } catch {
    return false; // the other package may be there
  }
}

/** It sends nothing twice, and nothing late: so errors are exact, and come at once. */
async function ofIoredis(url: string): Promise<RedisClient> {
  const { Redis } = (await import(IOREDIS)) as { Redis: new (url: string, options: object) => IoredisClient };
  const client = new Redis(url, {
    autoResendUnfulfilledCommands: false,
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    connectTimeout: CONNECT_TIMEOUT,
    socketTimeout: SILENCE,
    retryStrategy: (attempts: number) => pauseAfter(attempts - 1, Math.random(), RECONNECT),
  });
  return new IoredisAdapter(client, true);
}

async function ofNodeRedis(url: string): Promise<RedisClient> {
  const { createClient } = (await import(NODE_REDIS)) as {
    createClient(options: object): NodeRedisClient & { connect(): Promise<unknown> };
  };
  const client = createClient({
    url,
    disableOfflineQueue: true,
    pingInterval: SILENCE / 2,
    socket: {
      connectTimeout: CONNECT_TIMEOUT,
      socketTimeout: SILENCE,
      reconnectStrategy: (failures: number) => pauseAfter(failures, Math.random(), RECONNECT),
    },
  });
  const adapter = new NodeRedisAdapter(client, true);
  open(client);
  return adapter;
}
