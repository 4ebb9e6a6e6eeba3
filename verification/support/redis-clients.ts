import { Cluster, Redis } from 'ioredis';
import { Cluster as Cluster6, Redis as Redis6 } from 'ioredis-6';
import { createClient, createCluster } from 'redis';
import { createClient as createClient4, createCluster as createCluster4 } from 'redis-4';
import type { GivenRedisOptions } from '../../lib/stores/redis/index.js';

type Client = GivenRedisOptions['client'];

/** A client of an application, and how to close it. */
export interface AppClient {
  readonly client: Client;
  close(): void;
}

/** A client of ioredis, of any version. */
type Ioredis = Client & { on(event: 'error', listener: () => void): unknown; disconnect(): void };

const ofIoredis = (client: Ioredis): AppClient => {
  client.on('error', () => undefined);
  return { client, close: () => client.disconnect() };
};

/** Makes a client of each kind, as an application does. */
export const CLIENTS: Readonly<Record<string, (url: string) => Promise<AppClient>>> = {
  ioredis: async (url) => ofIoredis(new Redis(url)),
  'ioredis with a database and a prefix of keys': async (url) =>
    ofIoredis(new Redis(`${url}/3`, { keyPrefix: 'app[1]:', enableAutoPipelining: true, stringNumbers: true })),
  'ioredis 6': async (url) => ofIoredis(new Redis6(url)),
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

const nodesOf = (ports: readonly number[]) => ports.map((port) => ({ host: '127.0.0.1', port }));

/** Makes a client of a Cluster of each kind. */
export const CLUSTER_CLIENTS: Readonly<Record<string, (ports: readonly number[]) => Promise<AppClient>>> = {
  ioredis: async (ports) => ofIoredis(new Cluster(nodesOf(ports))),
  'ioredis 6': async (ports) => ofIoredis(new Cluster6(nodesOf(ports))),
  'node-redis 5': async (ports) => {
    const client = createCluster({ rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => client.destroy() };
  },
  'node-redis 4': async (ports) => {
    const client = createCluster4({ rootNodes: ports.map((port) => ({ url: `redis://127.0.0.1:${port}` })) });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => void client.disconnect() };
  },
};
