import { createClient } from 'redis';
import { DOUBT, isDoubted } from '../../../lib/core/decision/index.js';
import { type Driver, type RecordChange, StoreUnavailableError } from '../../../lib/core/store/index.js';
import { NodeRedisAdapter, open } from '../../../lib/stores/redis/clients/node-redis.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { resolveOptions } from '../../../lib/stores/redis/redis.options.js';
import { RedisDriver } from '../../../lib/stores/redis/redis.driver.js';
import { describeOnRedis } from '../../needs/redis.js';
import { CLIENTS } from '../../support/redis-clients.js';
import { useEnds } from '../../support/ends.js';
import { RedisServer } from '../../support/redis-server.js';
import { SwitchableProxy } from '../../../test/support/switchable-proxy.js';
import { eventually } from '../../../test/contract/eventually.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';

const KEY = 'semaphore:x';

/** How a store notices that its server is no primary any more. */
const NOTICES: Readonly<Record<string, (store: Driver) => Promise<unknown>>> = {
  'a write': (store) => store.records.compareAndSet('semaphore:other', undefined, 'text'),
  'a reading of the clock': (store) => store.now(),
};

/** Clients of the store itself, which it makes for a URL. */
const OWN: Readonly<Record<string, (url: string) => Driver>> = {
  ioredis: (url) => redis({ url }).open(UNHURRIED),
  'node-redis': (url) => {
    const newClient = async () => {
      const client = createClient({ url, disableOfflineQueue: true, socket: { reconnectStrategy: 50 } });
      open(client);
      return new NodeRedisAdapter(client, true);
    };
    return new RedisDriver({ ...resolveOptions({ url }), newClient }, UNHURRIED);
  },
};

describeOnRedis('a primary that becomes a replica, and breaks no connection', () => {
  const ends = useEnds();
  const newServer = async () => {
    const server = await RedisServer.start();
    ends.push(() => server[Symbol.asyncDispose]());
    return server;
  };
  const ready = async (store: Driver) => {
    ends.push(() => store.close());
    await eventually('connected', () => store.health().connected);
    return store;
  };
  /** Another server with an older text of the record, which was promoted. */
  const promoted = async (primary: RedisServer, store: Driver) => {
    const other = await newServer();
    await other.follow(primary);
    await eventually('its first text', async () =>
      store.records.compareAndSet(KEY, await store.records.read(KEY), 'old'),
    );
    await other.follow(primary); // now it has this text, too
    await other.command('REPLICAOF', 'NO', 'ONE');
    expect(await store.records.compareAndSet(KEY, 'old', 'new')).toBe(true);
    return other;
  };

  for (const [client, openStore] of Object.entries(OWN))
    it.each(Object.keys(NOTICES))(`is left by %s, and no older text is believed (own ${client})`, async (notice) => {
      const primary = await newServer();
      const proxy = await SwitchableProxy.start(primary.port);
      ends.push(() => proxy[Symbol.asyncDispose]());
      const store = await ready(openStore(`redis://127.0.0.1:${proxy.port}`));
      const other = await promoted(primary, store);
      const changes: RecordChange[] = [];
      await store.watch('', (change) => changes.push(change));
      await primary.follow(other);
      await expect(NOTICES[notice]!(store)).rejects.toThrow(StoreUnavailableError);

      const texts = new Set<string | undefined>();
      const look = async () => texts.add(await store.records.read(KEY));
      await expect(look()).rejects.toThrow('replica');
      await eventually(
        'the old server is examined again',
        () => store.health().problem?.includes('connect to') === true,
      );
      await expect(look()).rejects.toThrow(StoreUnavailableError);
      proxy.target = other.port; // its connections stay
      await eventually('a read', look);
      expect([...texts]).toEqual([`${DOUBT}old`]);
      expect(await store.records.compareAndSet(KEY, `${DOUBT}old`, 'restored')).toBe(true);
      expect((await store.now()).member).toContain(/run_id:(\w+)/.exec(String(await other.command('INFO')))![1]!);
      await primary.kill();
      await eventually('its own subscription is at the new primary', async () => {
        await store.records.compareAndSet(KEY, await store.records.read(KEY), `text ${performance.now()}`);
        return changes.some(({ text }) => text?.startsWith('text'));
      });
    });

  it.each(Object.keys(CLIENTS))('is not used by a given client, until it is the primary again (%s)', async (kind) => {
    const primary = await newServer();
    const { client, close } = await CLIENTS[kind]!(primary.url);
    ends.push(close);
    const store = await ready(redis({ client }).open(UNHURRIED));
    const other = await promoted(primary, store);
    await primary.follow(other);
    await expect(store.now()).rejects.toThrow('replica');
    expect(store.health().connected).toBe(false);
    expect(store.health().problem).toContain('replica');
    await expect(store.records.read(KEY)).rejects.toThrow(StoreUnavailableError);
    await primary.command('REPLICAOF', 'NO', 'ONE');
    await eventually('connected again', () => store.health().connected);
    const text = await store.records.read(KEY);
    expect(isDoubted(text)).toBe(true);
    expect(await store.records.compareAndSet(KEY, text, 'restored')).toBe(true);
  });
});
