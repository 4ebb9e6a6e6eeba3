import type { Within } from './calls.js';
import type { ChangeFeed } from './change-feed.js';
import type { RedisClient } from './clients/redis-client.js';
import type { Session } from './connection.js';
import { isWriteRefusal } from './failures.js';
import { BUCKETS, Channels, Keys } from './keys.js';
import type { ResolvedOptions } from './redis.options.js';
import { DOUBT_BUCKET, runScript } from './scripts.js';
import { type ServerFacts, assertUsable, lookAt } from './server-facts.js';
import { Writer } from './writer.js';

interface SessionNeeds {
  readonly options: ResolvedOptions;
  readonly feed: ChangeFeed;
  /** Absent for a durable server. */
  readonly origins: FailoverMarker | undefined;
  /** Aborts when the session ends. */
  readonly ended: AbortSignal;
  readonly within: Within;
}

/**
 * Looks at all servers, marks the records that a server may lack writes of, and subscribes to messages.
 *
 * @throws if a server does not answer, or can't be used
 */
export async function openSession(
  client: RedisClient,
  { options, feed, origins, ended, within }: SessionNeeds,
): Promise<{ session: Session; facts: ServerFacts }> {
  const primaries = client.primaries();
  if (primaries.length === 0) throw new Error('the client knows no primary of the Cluster yet');
  const facts = await Promise.all(primaries.map((primary) => within(() => lookAt(primary).then(usable))));
  const database = await within(() => databaseOf(client));
  expectDatabase(database, options.database);
  await markOlder(client, origins, facts);
  await feed.loadKey(client, new Keys(options.prefix).hintKey, within);
  await within(() => feed.attach(client, new Channels(client.keyPrefix + options.prefix, database)));
  const connection = options.replicas === 0 ? client : await connectionApart(client, ended, within);
  return { session: { client, ended, writer: new Writer(connection, options.replicas) }, facts: facts[0]! };
}

/**
 * Marks the records of former servers. A server that takes no writes now, for example because it lacks replicas, can still
 * be read, and grants nothing.
 */
async function markOlder(
  client: RedisClient,
  origins: FailoverMarker | undefined,
  facts: readonly ServerFacts[],
): Promise<void> {
  try {
    const found = facts.map(({ origin }) => origin);
    await origins?.meet(client, found);
  } catch (error) {
    if (!isWriteRefusal(error)) throw error;
  }
}

function usable(facts: ServerFacts): ServerFacts {
  assertUsable(facts);
  return facts;
}

/** The number of the database that the client uses. A Cluster has only one. */
async function databaseOf(client: RedisClient): Promise<number> {
  if (client.isCluster) return 0;
  const info = String(await client.command('', ['client', 'info']));
  return Number(/\bdb=(\d+)/.exec(info)?.[1] ?? 0);
}

/** ioredis goes on with database 0 if the server has no such database. Others may use that one. */
function expectDatabase(database: number, wanted = database): void {
  if (database === wanted) return;
  throw new Error(
    `the server gave database ${database} in place of ${wanted}: name one that it has, below its setting "databases"`,
  );
}

/** One more connection, for as long as the session. */
async function connectionApart(client: RedisClient, ended: AbortSignal, within: Within): Promise<RedisClient> {
  // A listener for what has happened already is never called, and the connection would stay for ever.
  ended.throwIfAborted();
  const connection = client.newConnection();
  ended.addEventListener('abort', () => connection.release(), { once: true });
  await within(() => isReady(connection));
  return connection;
}

function isReady(client: RedisClient): Promise<void> {
  return new Promise((resolve) => {
    const look = () => {
      if (!client.isReady) return;
      stopListening();
      resolve();
    };
    const stopListening = client.onChange(look);
    look();
  });
}

/**
 * Marks the records as soon as this node meets another server. Each write does that too, for its bucket (`scripts.ts`),
 * so no promise depends on this class. But a grace should begin when the server takes over, not at the next write.
 */
export class FailoverMarker {
  readonly #known = new Set<string>();

  constructor(
    private readonly keys: Keys,
    private readonly within: Within,
  ) {}

  /** @returns whether an origin is new. Then records may have been marked @throws the client's error */
  async meet(client: RedisClient, origins: readonly string[]): Promise<boolean> {
    if (origins.every((origin) => this.#known.has(origin))) return false;
    await Promise.all(Array.from({ length: BUCKETS }, (_, bucket) => this.#mark(client, bucket)));
    for (const origin of origins) this.#known.add(origin);
    return true;
  }

  #mark(client: RedisClient, bucket: number): Promise<unknown> {
    const keys = [this.keys.index(bucket), this.keys.origin(bucket)];
    return this.within(() => runScript(client, DOUBT_BUCKET, keys));
  }
}
