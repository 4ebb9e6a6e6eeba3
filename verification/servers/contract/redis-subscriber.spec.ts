import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { StoreUnavailableError } from '../../../lib/core/store/index.js';
import { IoredisAdapter } from '../../../lib/stores/redis/clients/ioredis.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { describeOnRedis } from '../../needs/redis.js';
import { useEnds } from '../../support/ends.js';
import { CLIENTS } from '../../support/redis-clients.js';
import { RedisServer } from '../../support/redis-server.js';
import { SwitchableProxy } from '../../../test/support/switchable-proxy.js';
import { eventually } from '../../../test/contract/eventually.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';

describeOnRedis('subscriptions of a new connection for messages, by ioredis', () => {
  let server: RedisServer;
  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server?.[Symbol.asyncDispose]());

  it('succeed at every moment while it connects', async () => {
    const client = new Redis(server.url);
    const subscriber = new IoredisAdapter(client, true).newSubscriber({
      onMessage: () => undefined,
      onLost: () => undefined,
      onReconnected: () => undefined,
    });
    try {
      const connecting = new AbortController();
      const subscriptions = [subscriber.subscribe('first').finally(() => connecting.abort())];
      for (let index = 0; !connecting.signal.aborted; index++) {
        await turn();
        subscriptions.push(subscriber.subscribe(`channel ${index}`));
      }
      const outcomes = await Promise.allSettled(subscriptions);
      expect(outcomes.filter(({ status }) => status === 'rejected')).toEqual([]);
      expect(outcomes.length).toBeGreaterThan(2);
    } finally {
      subscriber.close();
      client.disconnect();
    }
  });
});

describeOnRedis('subscriptions of a store', () => {
  const ends = useEnds();
  const newServer = async () => {
    const server = await RedisServer.start();
    ends.push(() => server[Symbol.asyncDispose]());
    return server;
  };
  const newIoredis = (server: { readonly port: number }, options: object) => {
    const client = new Redis(server.port, options);
    client.on('error', () => undefined);
    ends.push(() => client.disconnect());
    return client;
  };
  const newNodeRedis = async (
    { port }: RedisServer,
    reconnectStrategy: number | ((failures: number) => number | Error),
  ) => {
    const client = createClient({ socket: { port, reconnectStrategy } });
    client.on('error', () => undefined);
    await client.connect();
    ends.push(() => client.isOpen && client.destroy());
    return client;
  };
  const connected = async (options: Parameters<typeof redis>[0], opening: object = UNHURRIED) => {
    const store = redis(options).open(opening);
    ends.push(() => store.close());
    await eventually('connected', () => store.health().connected);
    return store;
  };
  const { signal } = new AbortController();

  it('to hints work again after one that timed out (ioredis)', async () => {
    const server = await newServer();
    const store = await connected({ client: newIoredis(server, { commandTimeout: 500 }) });
    const queue = store.queue('queue');
    server.freeze();
    ends.push(() => server.thaw());
    await expect(queue.poll(60_000, signal)).rejects.toThrow('Command timed out');
    server.thaw();
    await eventually('a hint', () => queue.offer(['hint']));
    await eventually('it is found', async () => (await queue.poll(1000, signal)) === 'hint');
  });

  it('to hints work again after one whose connection broke before the answer (node-redis)', async () => {
    const server = await newServer();
    const store = await connected({ client: await newNodeRedis(server, 50) }, { callTimeout: 1000 });
    const queue = store.queue('queue');
    server.freeze();
    await expect(queue.poll(60_000, signal)).rejects.toThrow(StoreUnavailableError);
    await server.restart();
    await eventually('a hint', () => queue.offer(['hint']));
    await eventually('it is found', async () => (await queue.poll(1000, signal)) === 'hint');
  });

  it('that hear of a hint while the other connection is lost harm nothing', async () => {
    const server = await newServer();
    const client = newIoredis(server, { retryStrategy: () => 60_000 });
    const store = await connected({ client });
    const other = await connected({ url: server.url });
    const unhandled = jest.fn();
    process.on('unhandledRejection', unhandled);
    ends.push(() => process.off('unhandledRejection', unhandled));
    const changed = new Promise((resolve) => void store.watch('key', resolve));
    // Caught from the beginning: the poll may end before the program that cuts its connection does.
    const polled = store.queue('queue').poll(60_000, signal);
    const failure = polled.catch((error: unknown) => error);
    await eventually('it waits', async () => (await server.command('ZCARD', 'gatekeeper:{queue:queue}:pollers')) === 1);
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
    expect(await failure).toBeInstanceOf(StoreUnavailableError);
    await eventually('a hint', () => other.queue('queue').offer(['hint']));
    await other.records.compareAndSet('key', undefined, 'text');
    await changed; // so the message about the hint has come, too
    await turn();
    expect(unhandled).not.toHaveBeenCalled();
  });

  it.each(['ioredis', 'node-redis'])(
    'are there again after the client gave up, and was connected again (%s)',
    async (kind) => {
      const server = await newServer();
      const client =
        kind === 'ioredis'
          ? newIoredis(server, { retryStrategy: (attempts: number) => (attempts > 3 ? null : 50) })
          : await newNodeRedis(server, (failures) => (failures > 3 ? new Error('given up') : 50));
      const store = await connected({ client });
      const heard = new Set<string | undefined>();
      await store.watch('', ({ key }) => heard.add(key));
      await server.kill();
      await eventually('it gave up', () => (client instanceof Redis ? client.status === 'end' : !client.isOpen));
      await server.restart();
      await client.connect();
      await eventually('connected again', () => store.health().connected);
      await eventually('a change is heard', async () => {
        await store.records.compareAndSet('key', await store.records.read('key'), `text ${performance.now()}`);
        return heard.has('key');
      });
    },
  );
  it('are there again after the server vanished without a word (ioredis)', async () => {
    const server = await newServer();
    const proxy = await SwitchableProxy.start(server.port);
    ends.push(() => proxy[Symbol.asyncDispose]());
    const store = await connected({ client: newIoredis(proxy, { socketTimeout: 1000 }) }, { callTimeout: 1000 });
    const other = await connected({ url: server.url });
    const heard = new Set<string | undefined>();
    await store.watch('', ({ key }) => heard.add(key));
    proxy.vanish();
    await eventually('anything may have changed', () => heard.has(undefined));
    await other.records.compareAndSet('key', undefined, 'text');
    await eventually('the change is heard', () => heard.has('key'));
  });

  it('are there again after a broken connection, also with autoResubscribe: false (ioredis)', async () => {
    const server = await newServer();
    const store = await connected({ client: newIoredis(server, { autoResubscribe: false }) });
    const heard = new Set<string | undefined>();
    await store.watch('', ({ key }) => heard.add(key));
    await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub');
    await eventually('anything may have changed', () => heard.has(undefined));
    expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
    await eventually('the change is heard', () => heard.has('key'));
  });

  it.each(['ioredis', 'ioredis 6', 'node-redis 5', 'node-redis 4'])(
    'leave no connection when the store is closed while it connects (%s)',
    async (kind) => {
      const server = await newServer();
      const counting = newIoredis(server, {});
      const count = async () =>
        String(await counting.client('LIST'))
          .trim()
          .split('\n').length;
      const { client, close } = await CLIENTS[kind]!(server.url);
      ends.push(close);
      const before = await count();
      for (let moment = 0; moment < 40; moment++) {
        const store = redis({ client }).open();
        if (moment > 0) await pause(moment / 10);
        await store.close();
      }
      await eventually('no connection is left', async () => (await count()) === before, 5000);
    },
  );
});
