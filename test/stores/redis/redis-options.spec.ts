import { once } from 'node:events';
import { Cluster, Redis } from 'ioredis';
import { createClient, createClientPool, createCluster, createSentinel } from 'redis';
import { InvalidOptionsError } from '../../../lib/core/decision/index.js';
import { MissingPackageError, type RedisStoreOptions, redis } from '../../../lib/stores/redis/index.js';
import { IoredisAdapter } from '../../../lib/stores/redis/clients/ioredis.js';
import { findMaker } from '../../../lib/stores/redis/clients/own-client.js';

const lazy = { lazyConnect: true } as const;
const refusalOf = (options: unknown): string => {
  try {
    redis(options as RedisStoreOptions);
  } catch (error) {
    expect(error).toBeInstanceOf(InvalidOptionsError);
    return (error as Error).message;
  }
  throw new Error('the options were accepted');
};

describe('the options of redis()', () => {
  it.each<[string, () => RedisStoreOptions]>([
    ['a url', () => ({ url: 'redis://127.0.0.1' })],
    ['a url with everything', () => ({ url: 'rediss://user:p%23w@host.example:6380/2' })],
    ['a client of ioredis', () => ({ client: new Redis(lazy) })],
    [
      'a Sentinel client of ioredis',
      () => ({ client: new Redis({ ...lazy, sentinels: [{ host: '127.0.0.1', port: 1 }], name: 'gatekeeper' }) }),
    ],
    ['a Cluster of ioredis', () => ({ client: new Cluster(['127.0.0.1:1'], lazy) })],
    ['a client of node-redis', () => ({ client: createClient() })],
    ['a cluster of node-redis', () => ({ client: createCluster({ rootNodes: [{}] }) })],
    ['prefix and replicas', () => ({ url: 'redis://127.0.0.1', prefix: 'app:gatekeeper:', replicas: 2 })],
  ])('accept %s', (_what, options) => {
    expect(redis(options()).kind).toBe('redis');
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'is missing: give { prefix, durable, replicas, url, client }'],
    ['neither', {}, 'url: is missing or no text: give url, or a client'],
    ['both', { url: 'redis://127.0.0.1', client: new Redis(lazy) }, 'url: give either client or url'],
    ['another scheme', { url: 'http://127.0.0.1' }, 'url: is no address like "redis://user:password@host:6379/0"'],
    ['a foreign client', { client: {} }, 'client: is no client: give one of ioredis'],
    [
      'a Sentinel client of node-redis',
      { client: createSentinel({ name: 'gatekeeper', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] }) },
      'for Sentinel, give one of ioredis (new Redis({ sentinels, name }))',
    ],
    ['a pool', { client: createClientPool() }, 'client: is no client'],
    ['braces', { url: 'redis://127.0.0.1', prefix: '{a}' }, 'prefix: "{a}" is not a prefix of keys'],
    ['no truth value', { url: 'redis://127.0.0.1', durable: 'yes' }, 'durable: "yes" is not true or false'],
    ['no count', { url: 'redis://127.0.0.1', replicas: -1 }, 'replicas: -1 is not 0 or more'],
    ['an unknown field', { url: 'redis://127.0.0.1', host: 'x' }, 'host: '],
    [
      'a client of replicas',
      { client: new Redis({ ...lazy, role: 'slave' }) },
      "client: it connects to replicas (role: 'slave')",
    ],
    [
      'reads from replicas',
      { client: new Cluster(['127.0.0.1:1'], { ...lazy, scaleReads: 'all' }) },
      'client: it reads from replicas',
    ],
    [
      'WAIT in a Cluster',
      { client: new Cluster(['127.0.0.1:1'], lazy), replicas: 1 },
      'replicas: WAIT works on one connection',
    ],
  ])('refuse %s', (_what, options, message) => {
    expect(refusalOf(options)).toContain(message);
  });

  it.each([
    'redis://user:secret-word@:6379',
    'redis://user:secret-word@host/db',
    'redis//user:secret-word@host',
    'redis://user:secret-word%@host',
  ])('never show a password (%#)', (url) => {
    expect(refusalOf({ url })).not.toContain('secret-word');
  });
});

describe("the store's own connections of ioredis", () => {
  it('have no failoverDetector, which can close them for good', () => {
    const client = new Redis({ ...lazy, failoverDetector: true });
    const duplicate = jest.spyOn(client, 'duplicate');
    const ignore = () => undefined;
    new IoredisAdapter(client).newSubscriber({ onMessage: ignore, onLost: ignore, onReconnected: ignore }).close();
    expect(duplicate).toHaveBeenCalledWith(expect.objectContaining({ failoverDetector: false }));
  });
});

describe('the adapter of a Cluster of ioredis', () => {
  it('counts the losses of its servers, and keeps nothing of those that are gone', async () => {
    const cluster = new Cluster(['127.0.0.1:1'], lazy);
    const adapter = new IoredisAdapter(cluster);
    const gone = Array.from({ length: 20 }, () => new Redis(lazy));
    const present = new Redis(lazy);
    const before = [gone[0]!.listenerCount('close'), gone[0]!.listenerCount('end')];
    const listeners = (node: Redis) => [node.listenerCount('close'), node.listenerCount('end')];
    for (const node of [...gone, present]) cluster.emit('+node', node);
    for (const node of gone) {
      const ended = once(node, 'end');
      node.disconnect();
      await ended;
    }
    expect(adapter.losses).toBe(gone.length);
    expect(gone.map(listeners)).toEqual(gone.map(() => before));
    expect(listeners(present)).not.toEqual(before);

    const touches = gone.map((node) => jest.spyOn(node, 'off'));
    adapter.release();
    expect(touches.filter(({ mock }) => mock.calls.length > 0)).toEqual([]);
    expect(listeners(present)).toEqual(before);
  });
});

describe('redis({ url })', () => {
  const failing = (client: string) =>
    function make(): never {
      throw new Error(`a client of ${client}`);
    };

  /** The loaders, as if only these packages were installed. An error says which one makes the client. */
  const installed = (...names: string[]) => ({
    loadIoredis: () => (names.includes('ioredis') ? { Redis: failing('ioredis') as never } : undefined),
    loadNodeRedis: () => (names.includes('redis') ? { createClient: failing('node-redis') } : undefined),
  });
  const make = (...names: string[]) => findMaker(installed(...names))('redis://127.0.0.1');

  it('says which packages it could use, if none is installed', () => {
    expect(() => findMaker(installed())).toThrow(MissingPackageError);
    expect(() => findMaker(installed())).toThrow('npm install ioredis (or: npm install redis)');
  });

  it('uses the package that is installed, and ioredis if both are', () => {
    expect(() => make('redis')).toThrow('a client of node-redis');
    expect(() => make('ioredis')).toThrow('a client of ioredis');
    expect(() => make('redis', 'ioredis')).toThrow('a client of ioredis');
  });
});
