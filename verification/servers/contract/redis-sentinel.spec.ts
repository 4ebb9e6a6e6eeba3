import { Redis } from 'ioredis';
import { UnknownOutcomeError } from 'nestjs-gatekeeper';
import { DOUBT, isDoubted } from '../../../lib/core/decision/index.js';
import { type RecordChange, type Driver, StoreUnavailableError } from '../../../lib/core/store/index.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { describeOnRedis } from '../../needs/redis.js';
import { RedisSentinels } from '../../support/redis-sentinels.js';
import { RedisServer } from '../../support/redis-server.js';
import { eventually } from '../../../test/contract/eventually.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const KEYS = Array.from({ length: 20 }, (_, index) => `semaphore:idle-${index}`);
const COUNTER = 'semaphore:counter';

describeOnRedis('a failover by Redis Sentinel', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  it('leads stores to the new primary, where each record is doubted, no write succeeds twice, and watches go on', async () => {
    const { primary, replica, sentinels } = await newGroup();
    const one = await opened(sentinels);
    const other = await opened(sentinels);
    for (const key of KEYS) expect(await one.records.compareAndSet(key, undefined, `text of ${key}`)).toBe(true);
    await eventually('the replica has the records', async () => (await linkOf(replica)).isUpToDate(primary));
    const changes: RecordChange[] = [];
    await other.watch('semaphore:idle', (change) => void changes.push(change));
    const writers = [countOn(one, 'one'), countOn(other, 'other')];
    for (const writer of writers) closing.push(() => writer.stop());
    await eventually('both count', () => writers.every(({ written }) => written.length > 5));
    const { member } = await one.now();

    await primary.kill();
    const before = writers.map(({ written }) => written.length);
    await eventually('both count on the new primary', () =>
      writers.every(({ written }, index) => written.length > before[index]! + 5),
    );
    await Promise.all(writers.map((writer) => writer.stop()));

    const expected = writers.flatMap(({ written }) => written);
    expect(new Set(expected).size).toBe(expected.length);
    expect(expected.filter(isDoubted)).toHaveLength(1);
    expect((await one.now()).member).not.toBe(member);
    const texts = await allTexts(other.records, 'semaphore:idle');
    expect([...texts].toSorted()).toEqual(KEYS.map((key) => [key, `${DOUBT}text of ${key}`]).toSorted());

    await eventually('the failover is reported as a change of anything', () =>
      changes.some(({ key }) => key === undefined),
    );
    expect(await one.records.compareAndSet(KEYS[0]!, `${DOUBT}text of ${KEYS[0]}`, 'restored')).toBe(true);
    await eventually('the watch reports the change', () =>
      changes.some(({ key, text }) => key === KEYS[0] && text === 'restored'),
    );

    for (const close of closing.splice(closing.indexOf(endOfGroup) + 1).toReversed()) await close();
    for (const port of [replica.port, ...sentinels.addresses.map((address) => address.port)])
      await eventually(`no connection to ${port} is left`, async () => (await strangersAt(port)).length === 0);
  });

  const endOfGroup = () => undefined;

  async function newGroup() {
    const [primary, replica] = await Promise.all([RedisServer.start(), RedisServer.start()]);
    closing.push(
      () => primary[Symbol.asyncDispose](),
      () => replica[Symbol.asyncDispose](),
    );
    await replica.follow(primary);
    const sentinels = await RedisSentinels.watching(primary.port);
    closing.push(() => sentinels[Symbol.asyncDispose](), endOfGroup);
    return { primary, replica, sentinels };
  }

  async function opened({ addresses, name }: RedisSentinels): Promise<Driver> {
    // ioredis keeps a timer of this duration when it closes a connection.
    const fast = { retryStrategy: () => 50, sentinelRetryStrategy: () => 50, disconnectTimeout: 100 };
    const client = new Redis({ sentinels: addresses, name, ...fast });
    client.on('error', () => undefined);
    const store = redis({ client }).open();
    closing.push(
      () => client.disconnect(),
      () => store.close(),
    );
    await eventually('the store is connected', () => store.health().connected);
    return store;
  }
});

/** Writes one text after the other. `written`: the texts from which a write followed that was answered with true. */
function countOn(store: Driver, name: string) {
  const written: string[] = [];
  const stopping = new AbortController();
  const once = async (turn: number) => {
    const text = await store.records.read(COUNTER);
    if (await store.records.compareAndSet(COUNTER, text, `${name} ${turn}`)) written.push(text ?? '');
  };
  const working = (async () => {
    for (let turn = 0; !stopping.signal.aborted; turn++) {
      await once(turn).catch(onlyFailover);
      await new Promise(setImmediate);
    }
  })();
  return { written, stop: () => (stopping.abort(), working) };
}

function onlyFailover(error: unknown): void {
  if (!(error instanceof StoreUnavailableError) && !(error instanceof UnknownOutcomeError)) throw error;
}

async function linkOf(replica: RedisServer) {
  const info = String(await replica.command('INFO', 'replication'));
  const offset = /slave_repl_offset:(\d+)/.exec(info)?.[1];
  return {
    isUp: info.includes('master_link_status:up'),
    isUpToDate: async (primary: RedisServer) =>
      String(await primary.command('INFO', 'replication')).includes(`master_repl_offset:${offset}`),
  };
}

/** Connections of a server, without those of the sentinels, of replicas, and of this question itself. */
async function strangersAt(port: number): Promise<string[]> {
  const client = new Redis(port, '127.0.0.1');
  try {
    const clients = String(await client.call('CLIENT', 'LIST'))
      .trim()
      .split('\n');
    return clients.filter((line) => !/ name=sentinel-| flags=[MS] | cmd=client/.test(line));
  } finally {
    client.disconnect();
  }
}
