import { Redis } from 'ioredis';
import { DOUBT } from '../../../lib/core/decision/index.js';
import { NoQuorumError, type RecordChange, type Driver } from '../../../lib/core/store/index.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { describeOnRedis } from '../../needs/redis.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { CLUSTER_CLIENTS } from '../../support/redis-clients.js';
import { RedisServer } from '../../support/redis-server.js';
import { eventually } from '../../../test/contract/eventually.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const KEYS = Array.from({ length: 40 }, (_, index) => `semaphore:${index}`);

describeOnRedis('a Redis server that may lack writes which were acknowledged', () => {
  let server: RedisServer;
  const closing: (() => unknown)[] = [];
  beforeEach(async () => {
    server = await RedisServer.start({ appendonly: 'yes', appendfsync: 'always' });
    closing.push(() => server[Symbol.asyncDispose]());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  async function opened(): Promise<Driver> {
    const client = new Redis(server.port, { retryStrategy: () => 50 });
    client.on('error', () => undefined);
    const store = redis({ client }).open();
    closing.push(
      () => store.close(),
      () => client.disconnect(),
    );
    await eventually('the store is connected', () => store.health().connected);
    return store;
  }

  /** As a promotion does it: the same data under a new replication id. */
  const takeOver = () => server.command('DEBUG', 'CHANGE-REPL-ID');

  it('takes no write that follows from an old text, although no client noticed anything', async () => {
    const store = await opened();
    expect(await store.records.compareAndSet('semaphore:x', undefined, 'one')).toBe(true);
    await takeOver();
    expect(await store.records.compareAndSet('semaphore:x', 'one', 'two')).toBe(false);
    expect(await store.records.read('semaphore:x')).toBe(`${DOUBT}one`);
    expect(await store.records.compareAndSet('semaphore:x', `${DOUBT}one`, 'two')).toBe(true);
    expect(await store.records.compareAndSet('semaphore:x', 'two', 'three')).toBe(true);
  });

  it('doubts each record, also for a node that starts later, and only until it is written', async () => {
    const store = await opened();
    for (const key of KEYS) await store.records.compareAndSet(key, undefined, `text of ${key}`);
    await takeOver();
    const later = await opened();
    const texts = await allTexts(later.records, 'semaphore:');
    expect(new Set([...texts.values()].map((text) => text[0]))).toEqual(new Set([DOUBT]));
    expect(texts.size).toBe(KEYS.length);
    for (const [key, text] of texts) await store.records.compareAndSet(key, text, 'restored');
    await takeOver();
    const third = await opened();
    expect(new Set((await allTexts(third.records, 'semaphore:')).values())).toEqual(new Set([`${DOUBT}restored`]));
  });

  it('takes none of many writes that come at once and follow from old texts, in a few calls of its script', async () => {
    const store = await opened();
    const writeAll = (expected: string | undefined, next: string) =>
      Promise.all(KEYS.map((key) => store.records.compareAndSet(key, expected, next)));
    expect(new Set(await writeAll(undefined, 'one'))).toEqual(new Set([true]));
    await takeOver();
    await server.command('CONFIG', 'RESETSTAT');
    expect(new Set(await writeAll('one', 'two'))).toEqual(new Set([false]));
    const stats = String(await server.command('INFO', 'commandstats'));
    // The first goes at once, and the others share two calls behind it.
    expect(stats).toContain('cmdstat_evalsha:calls=3,');
    const texts = await Promise.all(KEYS.map((key) => store.records.read(key)));
    expect(new Set(texts)).toEqual(new Set([`${DOUBT}one`]));
  });

  it('is noticed with the next reading of its clock, and reported as a change of anything', async () => {
    const store = await opened();
    await store.records.compareAndSet('semaphore:x', undefined, 'one');
    const changes: RecordChange[] = [];
    const endWatch = await store.watch('semaphore:', (change) => void changes.push(change));
    closing.push(endWatch);
    await takeOver();
    await store.now();
    await eventually('the change is reported', () => changes.some(({ key }) => key === undefined));
    expect(await store.records.read('semaphore:x')).toBe(`${DOUBT}one`);
  });

  it('has started again with a file that may be old', async () => {
    const store = await opened();
    await store.records.compareAndSet('semaphore:x', undefined, 'one');
    await server.restart();
    await eventually('the record is doubted', async () => (await store.records.read('semaphore:x')) === `${DOUBT}one`);
  });

  it('is read all the same while it takes no writes, so that it can not be marked', async () => {
    expect(await (await opened()).records.compareAndSet('semaphore:x', undefined, 'one')).toBe(true);
    await takeOver();
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', 1);
    const store = await opened();
    expect(await store.records.read('semaphore:x')).toBe('one');
    await expect(store.records.compareAndSet('semaphore:x', 'one', 'two')).rejects.toThrow(NoQuorumError);
    await server.command('CONFIG', 'SET', 'min-replicas-to-write', 0);
    expect(await store.records.compareAndSet('semaphore:x', 'one', 'two')).toBe(false);
    expect(await store.records.read('semaphore:x')).toBe(`${DOUBT}one`);
  });

  it('is trusted with `durable`: a restart doubts nothing', async () => {
    const store = redis({ url: server.url, durable: true }).open();
    closing.push(() => store.close());
    await eventually('the store is connected', () => store.health().connected);
    expect(await store.records.compareAndSet('semaphore:x', undefined, 'one')).toBe(true);
    await server.restart();
    await eventually('it is back', async () => (await store.records.read('semaphore:x').catch(() => '')) === 'one');
    await store.now();
    await eventually('the write follows', () =>
      store.records.compareAndSet('semaphore:x', 'one', 'two').catch(() => false),
    );
    // A node without the option trusts it no more than any other server.
    expect(await (await opened()).records.read('semaphore:x')).toBe(`${DOUBT}two`);
  });

  it('doubts nothing while the same server goes on, whatever happens to connections and replicas', async () => {
    const replica = await RedisServer.start();
    closing.push(() => replica[Symbol.asyncDispose]());
    await replica.follow(server);
    const store = await opened();
    await store.records.compareAndSet('semaphore:x', undefined, 'one');
    await replica.kill();
    await replica.restart();
    await replica.follow(server);
    await server.command('CLIENT', 'KILL', 'TYPE', 'normal');
    expect(await (await opened()).records.read('semaphore:x')).toBe('one');
    await eventually('the write follows from the old text', () =>
      store.records.compareAndSet('semaphore:x', 'one', 'two'),
    );
  });

  it.each(Object.keys(CLUSTER_CLIENTS))(
    'is one of a Cluster: its records are doubted, those of the others are not (%s)',
    async (kind) => {
      const cluster = await RedisCluster.start();
      closing.push(() => cluster[Symbol.asyncDispose]());
      const { client, close } = await CLUSTER_CLIENTS[kind]!(cluster.ports);
      const store = redis({ client }).open();
      closing.push(close, () => store.close());
      await eventually('the store is connected', () => store.health().connected);
      for (const key of KEYS) expect(await store.records.compareAndSet(key, undefined, 'one')).toBe(true);
      await cluster.servers[0]!.command('DEBUG', 'CHANGE-REPL-ID');
      const isWritten = await Promise.all(KEYS.map((key) => store.records.compareAndSet(key, 'one', 'two')));
      const texts = await Promise.all(KEYS.map((key) => store.records.read(key)));
      expect(texts).toEqual(isWritten.map((written) => (written ? 'two' : `${DOUBT}one`)));
      expect(new Set(isWritten)).toEqual(new Set([true, false]));
    },
  );
});
