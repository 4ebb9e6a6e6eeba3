import { z } from 'zod';
import { faultsOf, onlyFields, saying } from '../../core/decision/only-fields.js';
import { InvalidOptionsError } from '../../core/decision/invalid-options.error.js';
import { type IoredisClient, IoredisAdapter, ioredisFaults, isIoredis } from './clients/ioredis.js';
import {
  type NodeRedisClient,
  NodeRedisAdapter,
  isNodeRedisCluster,
  isNodeRedis,
  isNodeRedisSentinel,
} from './clients/node-redis.js';
import { clusterMaker } from './clients/node-redis-cluster.js';
import { findMaker } from './clients/own-client.js';
import type { RedisClient } from './clients/redis-client.js';

interface RecordOptions {
  /**
   * Begins the names of all keys and channels. Stores with different prefixes share nothing.
   *
   * @defaultValue `gatekeeper:`
   */
  readonly prefix?: string;
  /**
   * Number of replicas that must confirm a write (docs/redis.md#wait) before it counts. If they don't in time, the outcome is unknown,
   * so nothing is granted. A failover then loses fewer writes, but may still lose some. Not for Cluster clients.
   *
   * @defaultValue 0
   * @see https://redis.io/docs/latest/commands/wait/
   */
  readonly replicas?: number;
  /**
   * Whether the server loses no write that it has confirmed, whatever happens: `appendonly yes`, `appendfsync always`,
   * and no failover to a replica that may lag. Then a restart or a failover causes no grace (docs/redis.md#losses). If
   * it is not true, a failover may make two holders. All nodes need the same value.
   *
   * @defaultValue false
   */
  readonly durable?: boolean;
}

/** The store uses a client of the application, and never closes it. */
export interface GivenRedisOptions extends RecordOptions {
  /**
   * A client of ioredis or of node-redis (version 4 or 5), for one server, for Sentinel (ioredis) or for a Cluster. The store
   * never closes it.
   */
  readonly client: IoredisClient | NodeRedisClient;
  /** Must be absent: the store uses the given client. */
  readonly url?: undefined;
}

/** The store creates its own client, and closes it. */
export interface OwnRedisOptions extends RecordOptions {
  /**
   * Instead of `client`: "redis://user:password@host:6379/0", or "rediss://…" for TLS. Needs the package ioredis or redis; of the two, ioredis
   * is used.
   */
  readonly url: string;
  /** Must be absent: the store creates its own client. */
  readonly client?: undefined;
}

/** Options of `redis(...)`: either `client` or `url`. */
export type RedisStoreOptions = GivenRedisOptions | OwnRedisOptions;

export interface ResolvedOptions {
  readonly prefix: string;
  readonly replicas: number;
  readonly durable: boolean;
  /** Number of the database that the URL names. */
  readonly database?: number;
  /** Where the servers are, for messages; without a password. */
  readonly place: string;
  readonly newClient: () => Promise<RedisClient>;
}

/** Does not contain the value, because it may contain a password. */
const NO_URL =
  'is no address like "redis://user:password@host:6379/0", or "rediss://…" for TLS (write special characters of a password as codes: "%23" for "#")';

const NO_CLIENT =
  'is no client: give one of ioredis (new Redis(), new Cluster()) or of node-redis (createClient(), createCluster()), and no pool';

const NO_SENTINEL =
  'is one of createSentinel() of node-redis, which hides lost connections and repeats writes: for Sentinel, give one of ioredis (new Redis({ sentinels, name }))';

const shape = {
  prefix: z
    .string(saying('a text'))
    .regex(/^[!-z|~]{1,100}$/, saying('a prefix of keys: use up to 100 visible ASCII characters without { and }'))
    .default('gatekeeper:'),
  durable: z.boolean(saying('true or false')).default(false),
  replicas: z.int(saying('a whole number')).min(0, saying('0 or more')).default(0),
};

const givenClientSchema = onlyFields({
  ...shape,
  client: z.custom<object>((client) => isIoredis(client) || isNodeRedis(client), {
    error: ({ input }) => (isNodeRedisSentinel(input) ? NO_SENTINEL : NO_CLIENT),
  }),
  url: z.undefined({ error: 'give either client or url' }).optional(),
});

const ownClientSchema = onlyFields({
  ...shape,
  url: z.string({ error: 'is missing or no text: give url, or a client' }).refine(isAddress, { error: NO_URL }),
  client: z.undefined().optional(),
});

/** Whether both packages accept a text as an address. */
function isAddress(text: string): boolean {
  const url = /^rediss?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || url.hostname === '') return false;
  try {
    decodeURIComponent(`${url.username} ${url.password}`);
  } catch {
    return false; // a "%" without a code
  }
  return /^\/?\d*$/.test(url.pathname);
}

/**
 * @throws InvalidOptionsError listing every fault
 * @throws MissingPackageError if a client is needed and no package is installed
 */
export function resolveOptions(options: RedisStoreOptions): ResolvedOptions {
  return options?.client === undefined ? ownClient(options) : givenClient(options);
}

function ownClient(options: RedisStoreOptions): ResolvedOptions {
  const parsed = ownClientSchema.safeParse(options);
  if (!parsed.success) throw new InvalidOptionsError('redis(options)', faultsOf(parsed.error));
  const { url, ...record } = parsed.data;
  const newClient = findMaker();
  const database = /^\/(\d+)$/.exec(new URL(url).pathname)?.[1];
  return {
    ...record,
    ...(database !== undefined && { database: Number(database) }),
    place: placeOf(url),
    newClient: async () => newClient(url),
  };
}

function givenClient(options: GivenRedisOptions): ResolvedOptions {
  const parsed = givenClientSchema.safeParse(options);
  const faults = [...(parsed.error ? faultsOf(parsed.error) : []), ...clientFaults(options)];
  if (!parsed.success || faults.length > 0) throw new InvalidOptionsError('redis(options)', faults);
  const { prefix, replicas, durable } = parsed.data;
  const { client } = options;
  return { prefix, replicas, durable, place: "the given client's server", newClient: makerOf(client) };
}

function makerOf(client: IoredisClient | NodeRedisClient): () => Promise<RedisClient> {
  if (isNodeRedisCluster(client)) return clusterMaker(client as NodeRedisClient);
  return async () => (isIoredis(client) ? new IoredisAdapter(begun(client)) : new NodeRedisAdapter(client));
}

/** A client with `lazyConnect` connects for its first command. The store sends none before there is a connection. */
function begun(client: IoredisClient): IoredisClient {
  if (client.status === 'wait') void client.call('ping').catch(() => undefined); // the session says why there is no connection
  return client;
}

/** Faults that only a given client can have. */
function clientFaults({ client, replicas }: GivenRedisOptions): string[] {
  const isCluster = (client as { isCluster?: unknown }).isCluster === true || isNodeRedisCluster(client);
  const waiting =
    isCluster && replicas ? ['replicas: WAIT works on one connection, so not with a client of a Cluster'] : [];
  return [...(isIoredis(client) ? ioredisFaults(client).map((fault) => `client: ${fault}`) : []), ...waiting];
}

/** Without user, password and settings. */
function placeOf(url: string): string {
  const { host, pathname } = new URL(url);
  return `Redis at ${host}${pathname === '/' ? '' : pathname}`;
}
