import { createClient } from 'redis';
import { UnknownOutcomeError } from '../../../lib/core/store/index.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { describeOnRedis } from '../../needs/redis.js';
import { useEnds } from '../../support/ends.js';
import { RedisServer } from '../../support/redis-server.js';
import { SwitchableProxy } from '../../../test/support/switchable-proxy.js';
import { eventually } from '../../../test/contract/eventually.js';

describeOnRedis('redis() with replicas that confirm writes', () => {
  const ends = useEnds();
  const newServer = async () => {
    const server = await RedisServer.start();
    ends.push(() => server[Symbol.asyncDispose]());
    return server;
  };
  const connected = async (options: Parameters<typeof redis>[0], callTimeout = 2000) => {
    const store = redis(options).open({ callTimeout });
    ends.push(() => store.close());
    await eventually('connected', () => store.health().connected);
    return store;
  };

  it('waits for replicas if that is wished, and does not know the outcome without them', async () => {
    const [primary, replica] = [await newServer(), await newServer()];
    const store = await connected({ url: primary.url, replicas: 1 });
    await expect(store.records.compareAndSet('key', undefined, '1')).rejects.toThrow(
      '0 of 1 replicas confirmed the write in time',
    );
    await replica.follow(primary);
    // The first replica gives the primary a new replication id, so the record is doubted.
    expect(await store.records.compareAndSet('key', '1', '2')).toBe(false);
    expect(await store.records.compareAndSet('key', await store.records.read('key'), '2')).toBe(true);
    expect(String(await replica.command('GET', ((await replica.command('KEYS', '*record:key')) as string[])[0]!))).toBe(
      '2',
    );
    replica.freeze();
    ends.push(() => replica.thaw());
    await expect(store.records.compareAndSet('key', '2', '3')).rejects.toThrow(UnknownOutcomeError);
    expect(await store.records.read('key')).toBe('3');
  });

  it('does not count a confirmation on a new connection', async () => {
    const [primary, replica] = [await newServer(), await newServer()];
    await replica.follow(primary);
    const proxy = await SwitchableProxy.start(primary.port);
    ends.push(() => proxy[Symbol.asyncDispose]());
    const client = createClient({ socket: { port: proxy.port, reconnectStrategy: 5 } });
    client.on('error', () => undefined);
    await client.connect();
    ends.push(() => client.destroy());
    const store = await connected({ client, replicas: 1 }, 3000);
    replica.freeze();
    ends.push(() => replica.thaw());
    const writing = store.records.compareAndSet('key', undefined, 'text').catch((error: unknown) => error);
    await eventually('written', async () => Number(await primary.command('DBSIZE')) > 0);
    proxy.cut();
    expect(await writing).toBeInstanceOf(UnknownOutcomeError);
  });
});
