import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { redis } from '../../../lib/stores/redis/index.js';
import {
  NoQuorumError,
  type RecordChange,
  StoreUnavailableError,
  UnknownOutcomeError,
} from '../../../lib/core/store/index.js';
import { describeOnRedis } from '../../needs/redis.js';
import { CLIENTS } from '../../support/redis-clients.js';
import { useEnds } from '../../support/ends.js';
import { RedisServer } from '../../support/redis-server.js';
import { SwitchableProxy } from '../../../test/support/switchable-proxy.js';
import { waitingSince } from '../../../test/support/waiting.js';
import { closing } from '../../../test/contract/closing.js';
import { eventually } from '../../../test/contract/eventually.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';
import { allTexts } from '../../../lib/core/store/paging.js';

/** For calls that get no answer. */
const QUICK = { callTimeout: 500 };

describeOnRedis('redis() and its connection', () => {
  const ends = useEnds();
  const newServer = async (settings?: Parameters<typeof RedisServer.start>[0]) => {
    const server = await RedisServer.start(settings);
    ends.push(() => server[Symbol.asyncDispose]());
    return server;
  };
  const newProxy = async (server: RedisServer) => {
    const proxy = await SwitchableProxy.start(server.port);
    ends.push(() => proxy[Symbol.asyncDispose]());
    return proxy;
  };
  const opened = (options: Parameters<typeof redis>[0], opening: object = QUICK) => {
    const store = redis(options).open(opening);
    ends.push(() => store.close());
    return store;
  };
  const connected = async (options: Parameters<typeof redis>[0], opening: object = UNHURRIED) => {
    const store = opened(options, opening);
    await eventually('connected', () => store.health().connected);
    return store;
  };

  it('opens without a server, says why it is not connected, and connects when there is one', async () => {
    const server = await newServer();
    await server.kill();
    const store = opened({ url: server.url });
    await expect(store.records.read('key')).rejects.toThrow(StoreUnavailableError);
    await eventually('the reason', () => store.health().problem?.includes('ECONNREFUSED') === true);
    await expect(store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(StoreUnavailableError);
    await server.restart();
    await eventually('connected', () => store.health().connected);
    expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
    expect(store.health()).toEqual({ connected: true, members: 1, quorum: 0 });
  });

  it.each(Object.keys(CLIENTS))('refuses at once while there is no server, and finds it again (%s)', async (kind) => {
    const server = await newServer();
    const { client, close } = await CLIENTS[kind]!(server.url);
    ends.push(close);
    const store = await connected({ client });
    const changes: RecordChange[] = [];
    await store.watch('', (change) => changes.push(change));
    const member = (await store.now()).member;
    await server.kill();
    await eventually('the loss is noticed', () => !store.health().connected);
    const waited = waitingSince();
    await expect(store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(StoreUnavailableError);
    await expect(store.records.read('key')).rejects.toThrow(StoreUnavailableError);
    expect(waited()).toBeLessThan(200);
    await server.restart();
    await eventually('connected again', () => store.health().connected);
    expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
    expect(changes).toContainEqual({});
    expect((await store.now()).member).not.toBe(member); // another process, so another clock
    await eventually('its own subscription is back', async () => {
      await store.records.compareAndSet('key', await store.records.read('key'), `text ${performance.now()}`);
      return changes.some(({ key }) => key === 'key');
    });
  });

  it.each(Object.keys(CLIENTS))('does not know the outcome of a write whose answer is lost (%s)', async (kind) => {
    const server = await newServer();
    const proxy = await newProxy(server);
    const { client, close } = await CLIENTS[kind]!(`redis://127.0.0.1:${proxy.port}`);
    ends.push(close);
    const store = await connected({ client }, QUICK);
    const direct = new Redis(server.port, { db: kind.includes('database') ? 3 : 0 });
    ends.push(() => direct.disconnect());
    await store.records.compareAndSet('other', undefined, 'text'); // now the server knows the script
    const keys = await direct.dbsize();
    proxy.loseAnswers();
    const writing = store.records.compareAndSet('key', undefined, 'text').catch((error: unknown) => error);
    await eventually('it was written all the same', async () => (await direct.dbsize()) > keys);
    await server.kill();
    proxy.cut();
    expect(await writing).toBeInstanceOf(UnknownOutcomeError);
  });

  it('answers false for a write that ioredis sent twice: the caller finds its text', async () => {
    const server = await newServer();
    const proxy = await newProxy(server);
    const client = new Redis(proxy.port, { retryStrategy: () => 10 });
    ends.push(() => client.disconnect());
    const store = await connected({ client }, { callTimeout: 10_000 });
    await store.records.compareAndSet('other', undefined, 'text'); // now the server knows the script
    const keys = Number(await server.command('DBSIZE'));
    proxy.loseAnswers();
    const writing = store.records.compareAndSet('key', undefined, 'text');
    await eventually('it was written', async () => Number(await server.command('DBSIZE')) > keys);
    proxy.cut();
    expect(await writing).toBe(false);
    await eventually('its text is found', async () => (await store.records.read('key')) === 'text');
  });

  it('gives up a call of a server that is frozen: a read is unavailable, the outcome of a write unknown', async () => {
    const server = await newServer();
    const store = await connected({ url: server.url }, QUICK);
    server.freeze();
    ends.push(() => server.thaw());
    await expect(store.records.read('key')).rejects.toThrow(StoreUnavailableError);
    await expect(store.now()).rejects.toThrow(StoreUnavailableError);
    await expect(store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(UnknownOutcomeError);
    expect(store.health().problem).toContain('within 500 ms');
    server.thaw();
    await eventually('it answers again', async () => (await store.records.read('key')) === 'text');
  });

  it('connects a client that waits for its first command (ioredis, lazyConnect)', async () => {
    const server = await newServer();
    const client = new Redis(server.port, { lazyConnect: true });
    ends.push(() => client.disconnect());
    const store = opened({ client }, UNHURRIED);
    const waited = waitingSince();
    expect(await store.records.read('key')).toBeUndefined();
    expect(waited()).toBeLessThan(4000);
  });

  it('knows scripts that a server has forgotten', async () => {
    const server = await newServer();
    const store = await connected({ url: server.url });
    await server.command('SCRIPT', 'FLUSH');
    expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
  });

  it('refuses a replica', async () => {
    const [primary, replica] = [await newServer(), await newServer()];
    await replica.command('REPLICAOF', '127.0.0.1', primary.port);
    const store = opened({ url: replica.url });
    await expect(store.records.read('key')).rejects.toThrow('the server is a replica: connect to the primary');
  });

  it('refuses a database that the server does not have', async () => {
    const server = await newServer();
    const store = opened({ url: `${server.url}/99` });
    await expect(store.records.read('key')).rejects.toThrow('the server gave database 0 in place of 99');
    expect(await server.command('DBSIZE')).toBe(0);
  });

  it('surely wrote nothing when the server became a replica, or lacks replicas, or memory', async () => {
    const server = await newServer({ 'repl-ping-replica-period': 1 });
    const store = await connected({ url: server.url });
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', 1);
    await expect(store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(NoQuorumError);
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', 0);
    await server.command('CONFIG', 'SET', 'maxmemory', 1);
    await expect(store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow('raise maxmemory');
    await server.command('CONFIG', 'SET', 'maxmemory', 0);
    await server.command('REPLICAOF', '127.0.0.1', 1);
    const failed = store.records.compareAndSet('key', undefined, 'text');
    await expect(failed).rejects.toThrow(StoreUnavailableError);
    await expect(failed).rejects.toThrow('READONLY');
    await server.command('REPLICAOF', 'NO', 'ONE');
    await eventually('writable', async () => store.records.compareAndSet('key', undefined, 'text'));
  });

  it('reports a server that may drop records, and what to do', async () => {
    const server = await newServer({ maxmemory: '100mb', 'maxmemory-policy': 'allkeys-lru' });
    const store = await connected({ url: server.url });
    expect(store.health().problem).toContain('set maxmemory-policy to noeviction');
    await server.command('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
    await store.now();
    expect(store.health().problem).toBeUndefined();
  });

  it('needs only the permissions that docs/redis.md lists, and says which one is missing', async () => {
    const server = await newServer();
    const commands = ['+@read', '+@write', '+@scripting', '+@pubsub', '+@connection', '+time', '+info'];
    const rights = ['~gatekeeper:*', 'resetchannels', '&gatekeeper:*', '&gatekeeper:0:waiting:*', ...commands];
    await server.command('ACL', 'SETUSER', 'app', 'on', '>secret-word', ...rights);
    const url = `redis://app:secret-word@127.0.0.1:${server.port}`;
    const store = await connected({ url });
    expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
    expect((await allTexts(store.records, '')).size).toBe(1);
    const other = await connected({ url: server.url });
    const heard = new Set<string | undefined>();
    await store.watch('', ({ key }) => heard.add(key));
    store.awaitChanges!(); // as a node that serves its store to remote()
    await eventually('a write for those who wait', async () => {
      await other.records.compareAndSet('waited', await other.records.read('waited'), `${performance.now()}`, {
        notify: 'waiting',
      });
      return heard.has('waited');
    });
    await server.command('ACL', 'SETUSER', 'app', '-info');
    const denied = await store.now().catch((error: Error) => error);
    expect(denied).toBeInstanceOf(StoreUnavailableError);
    expect(`${(denied as Error).message} ${JSON.stringify(store.health())}`).not.toContain('secret-word');
  });

  it('names no password when it is refused', async () => {
    const server = await newServer({ requirepass: 'right-word' });
    const store = opened({ url: `redis://:wrong-word@127.0.0.1:${server.port}/1` });
    await eventually('the reason', () => store.health().problem?.includes('WRONGPASS') === true);
    const error = await store.records.read('key').catch((failure: Error) => failure);
    expect((error as Error).message).toContain(`Redis at 127.0.0.1:${server.port}/1`);
    expect(`${(error as Error).stack} ${store.health().problem}`).not.toMatch(/(right|wrong)-word/);
  });

  it.each(Object.keys(CLIENTS))('leaves a given client as it was when it closes (%s)', async (kind) => {
    const server = await newServer();
    const { client, close } = await CLIENTS[kind]!(server.url);
    ends.push(close);
    const emitter = client as unknown as { eventNames(): string[]; listenerCount(name: string): number };
    const listeners = () =>
      Object.fromEntries(emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]));
    const before = listeners();
    const connections = async () =>
      String(await server.command('CLIENT', 'LIST', 'TYPE', 'pubsub'))
        .trim()
        .split('\n')
        .filter(Boolean).length;
    await using other = closing(redis({ client }).open(QUICK));
    await eventually('connected', () => other.health().connected);
    const store = await connected({ client });
    expect(await connections()).toBe(2);
    await store.close();
    await other.close();
    expect(listeners()).toEqual(before);
    await eventually('its subscribers are gone', async () => (await connections()) === 0);
    expect(
      String(
        await (kind.startsWith('ioredis')
          ? (client as Redis).ping()
          : (client as ReturnType<typeof createClient>).ping()),
      ),
    ).toBe('PONG');
  });

  it('keeps apart what has another prefix, another database, or another prefix of the client', async () => {
    const server = await newServer();
    const prefixed = new Redis(server.port, { keyPrefix: 'app:' });
    ends.push(() => prefixed.disconnect());
    const stores = [
      await connected({ url: server.url }),
      await connected({ url: server.url, prefix: 'other:' }),
      await connected({ url: `${server.url}/1` }),
      await connected({ client: prefixed }),
    ];
    const heard: RecordChange[][] = [];
    for (const store of stores) {
      const changes: RecordChange[] = [];
      heard.push(changes);
      await store.watch('', (change) => changes.push(change));
    }
    for (const [index, store] of stores.entries()) {
      expect(await store.records.compareAndSet('key', undefined, `text ${index}`)).toBe(true);
      await eventually('its own change', () => heard[index]!.length > 0);
    }
    expect(heard).toEqual(stores.map((_, index) => [{ key: 'key', text: `text ${index}` }]));
  });

  it('finds a listing again whose index was dropped, with the next writes', async () => {
    const server = await newServer();
    const store = await connected({ url: server.url });
    await store.records.compareAndSet('key', undefined, '1');
    const indexes = (await server.command('KEYS', '*:index')) as string[];
    await server.command('DEL', ...indexes);
    expect((await allTexts(store.records, '')).size).toBe(0);
    await store.records.compareAndSet('key', '1', '2');
    expect(await allTexts(store.records, '')).toEqual(new Map([['key', '2']]));
  });
});
