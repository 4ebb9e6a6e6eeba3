import { DOUBT, withoutDoubt } from '../../../lib/core/decision/index.js';
import { redis } from '../../../lib/stores/redis/index.js';
import type { TextCollection } from '../../../lib/core/store/driver.js';
import { eventually } from '../../../test/contract/eventually.js';
import { describeOnRedis } from '../../needs/redis.js';
import { CLUSTER_CLIENTS } from '../../support/redis-clients.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import type { RedisServer } from '../../support/redis-server.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const KEYS = 64;
/** Keys of the slot that are moved between two looks of the writers. */
const MOVED_AT_ONCE = 3;

describeOnRedis('a slot that moves to another primary of a Cluster while nodes use its records', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await RedisCluster.start();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  it.each(Object.keys(CLUSTER_CLIENTS))('loses no write, and counts none twice (%s)', async (kind) => {
    const { client, close } = await CLUSTER_CLIENTS[kind]!(cluster.ports);
    const prefix = `${kind.replace(' ', '')}:`;
    const store = redis({ client, prefix }).open({ callTimeout: 5000 });
    try {
      await eventually('connected', () => store.health().connected);
      const keys = Array.from({ length: KEYS }, (_, index) => `key-${index}`);
      const counters = keys.map((key) => new Counter(store.records, key));
      // Another script writes the texts of tasks, with two keys.
      const tasks = new Counter(store.tasks, 'task');
      await Promise.all([...counters, tasks].map((counter) => counter.increment()));
      const writing = new AbortController();
      const work = [...counters, tasks].map((counter) => counter.work(writing.signal));
      try {
        for (const tag of ['{0}:index', '{3}:index', '{tasks}:texts']) await move(cluster, prefix + tag, tasks);
      } finally {
        writing.abort();
        await Promise.all(work);
      }
      for (const counter of [...counters, tasks]) expect(await counter.read()).toBe(counter.count);
      expect((await allTexts(store.records, 'key-')).size).toBe(KEYS);
    } finally {
      await store.close();
      close();
    }
  });
});

/** Counts up one text, and knows what it must be. */
class Counter {
  count = 0;

  constructor(
    private readonly texts: TextCollection,
    private readonly key: string,
  ) {}

  async read(): Promise<number> {
    return Number(withoutDoubt((await this.texts.read(this.key)) ?? '0'));
  }

  async increment(): Promise<void> {
    const [former, next] = [this.count === 0 ? undefined : String(this.count), String(this.count + 1)];
    if (!(await this.texts.compareAndSet(this.key, former, next)))
      await this.#incrementDoubted(`${DOUBT}${former}`, next);
    this.count++;
  }

  /** The server to which the slot moved has marked the text. */
  async #incrementDoubted(former: string, next: string): Promise<void> {
    expect(await this.texts.read(this.key)).toBe(former);
    expect(await this.texts.compareAndSet(this.key, former, next)).toBe(true);
  }

  async work(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      await this.increment();
      expect(await this.read()).toBe(this.count);
    }
  }
}

/** Moves the slot of a key as redis-cli does, a few keys at a time, while the writers of `progress` go on. */
async function move(cluster: RedisCluster, key: string, progress: Counter): Promise<void> {
  const slot = Number(await cluster.servers[0]!.command('CLUSTER', 'KEYSLOT', key));
  const from = await ownerOf(cluster, slot);
  const to = cluster.servers[(cluster.servers.indexOf(from) + 1) % cluster.servers.length]!;
  const [fromId, toId] = [await idOf(from), await idOf(to)];
  await to.command('CLUSTER', 'SETSLOT', slot, 'IMPORTING', fromId);
  await from.command('CLUSTER', 'SETSLOT', slot, 'MIGRATING', toId);
  for (;;) {
    const keys = (await from.command('CLUSTER', 'GETKEYSINSLOT', slot, MOVED_AT_ONCE)) as string[];
    if (keys.length === 0) break;
    await from.command('MIGRATE', '127.0.0.1', to.port, '', 0, 5000, 'KEYS', ...keys);
    const before = progress.count;
    // While one of its two keys has moved, the counter of tasks itself must wait.
    if (!key.includes('{tasks}')) await eventually('work goes on', () => progress.count > before);
  }
  for (const server of [to, from]) await server.command('CLUSTER', 'SETSLOT', slot, 'NODE', toId);
  const before = progress.count;
  await eventually('work goes on after the move', () => progress.count > before + 20);
}

async function ownerOf(cluster: RedisCluster, slot: number): Promise<RedisServer> {
  const ranges = (await cluster.servers[0]!.command('CLUSTER', 'SLOTS')) as [number, number, [string, number]][];
  const [, , [, port]] = ranges.find(([first, last]) => first <= slot && slot <= last)!;
  return cluster.servers.find((server) => server.port === port)!;
}

const idOf = async (server: RedisServer): Promise<string> => String(await server.command('CLUSTER', 'MYID'));
