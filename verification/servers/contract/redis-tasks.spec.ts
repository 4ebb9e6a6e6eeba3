import { randomUUID } from 'node:crypto';
import type { Cluster } from 'ioredis';
import type { RecordStore } from '../../../lib/core/store/index.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { describeOnRedis, lackOfRedis } from '../../needs/redis.js';
import { useEnds } from '../../support/ends.js';
import { CLIENTS, CLUSTER_CLIENTS } from '../../support/redis-clients.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { RedisServer } from '../../support/redis-server.js';
import { useShared } from '../../support/shared.js';
import { behindProxy } from '../../../test/contract/behind-proxy.js';
import { eventually } from '../../../test/contract/eventually.js';
import { describeTaskStorageContract } from '../../../test/contract/on-jest.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';

/** One server, and one Cluster, for all kinds of clients: the contract's keys and names are random, and so meet nowhere. */
const server = useShared(() => RedisServer.start());
const cluster = useShared(() => RedisCluster.start());
const ports = async () => (await cluster()).ports;

describeTaskStorageContract({
  name: 'redis({ url })',
  missing: lackOfRedis,
  prepare: async () => {
    const { port, outage, close } = await behindProxy((await server()).port);
    const store = redis({ url: `redis://127.0.0.1:${port}` });
    return { open: (options) => store.open(options), stop: close, outage };
  },
});

for (const [name, newClient] of Object.entries(CLIENTS)) {
  describeTaskStorageContract({
    name: `redis({ client }) of ${name}`,
    missing: lackOfRedis,
    prepare: async () => {
      const proxy = await behindProxy((await server()).port);
      const { client, close } = await newClient(`redis://127.0.0.1:${proxy.port}`);
      const store = redis({ client });
      const stop = async () => {
        close();
        await proxy.close();
      };
      return { open: (options) => store.open(options), stop, outage: proxy.outage };
    },
  });
}

for (const [name, newClient] of Object.entries(CLUSTER_CLIENTS)) {
  describeTaskStorageContract({
    name: `redis({ client }) of a Cluster, with ${name}`,
    missing: lackOfRedis,
    prepare: async () => {
      const { client, close } = await newClient(await ports());
      const store = redis({ client });
      return { open: (options) => store.open(options), stop: async () => close() };
    },
  });
}

describeOnRedis('a queue in a Cluster', () => {
  const ends = useEnds();
  const prepare = async () => {
    const { client, close } = await CLUSTER_CLIENTS['ioredis']!(await ports());
    ends.push(close);
    const name = randomUUID();
    const pollers = `gatekeeper:{queue:${name}}:pollers`;
    const open = async () => {
      const store = redis({ client }).open(UNHURRIED);
      ends.push(() => store.close());
      await eventually('connected', () => store.health().connected);
      return store;
    };
    /** Resolves when the poll waits. */
    const poll = async (store: RecordStore) => {
      const noted = await cluster.zcard(pollers);
      const polling = store.tasks!.queue(name).poll(60_000, new AbortController().signal);
      polling.catch(() => undefined); // of a store that is closed
      await eventually('it waits', async () => (await cluster.zcard(pollers)) > noted);
      return { polling };
    };
    const cluster = client as Cluster;
    return { cluster, name, pollers, open, poll };
  };

  it('forgets a client that is closed', async () => {
    const { cluster, pollers, open, poll } = await prepare();
    const store = await open();
    await poll(store);
    await store.close();
    expect(await cluster.zrange(pollers, 0, -1)).toEqual([]);
  });

  it('wakes a client that waits, and none that is gone', async () => {
    const { cluster, name, pollers, open, poll } = await prepare();
    const store = await open();
    const longAgo = String(Math.floor(Date.now() / 1000) - 60);
    await cluster.zadd(pollers, longAgo, 'gone', longAgo, 'also gone');
    const { polling } = await poll(store);
    await store.tasks!.queue(name).offer(['hint']);
    expect(await polling).toBe('hint');
    expect(await cluster.zrange(pollers, 0, -1)).toEqual([]);
  });
});
