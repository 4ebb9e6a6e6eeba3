import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { createClient as createClient4 } from 'redis-4';
import type { GivenRedisOptions } from '../../lib/stores/redis/index.js';

type Client = GivenRedisOptions['client'];

/** A client of an application, and how to close it. */
export interface AppClient {
  readonly client: Client;
  close(): void;
}

/** Makes a client of each kind, as an application does. */
export const CLIENTS: Readonly<Record<string, (url: string) => Promise<AppClient>>> = {
  ioredis: async (url) => {
    const client = new Redis(url);
    client.on('error', () => undefined);
    return { client, close: () => client.disconnect() };
  },
  'node-redis 5': async (url) => {
    const client = createClient({ url });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  'node-redis 5 with RESP3': async (url) => {
    const client = createClient({ url, RESP: 3 });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  'node-redis 4': async (url) => {
    const client = createClient4({ url });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => void client.disconnect() };
  },
};
