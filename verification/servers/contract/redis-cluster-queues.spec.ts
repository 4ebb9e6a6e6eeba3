import { randomUUID } from 'node:crypto';
import type { Cluster } from 'ioredis';
import type { Driver } from '../../../lib/core/store/index.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { describeOnRedis } from '../../needs/redis.js';
import { useEnds } from '../../support/ends.js';
import { CLUSTER_CLIENTS } from '../../support/redis-clients.js';
import { RedisCluster } from '../../support/redis-cluster.js';
import { useShared } from '../../support/shared.js';
import { eventually } from '../../../test/contract/eventually.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';

const cluster = useShared(() => RedisCluster.start());
const ports = async () => (await cluster()).ports;

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
    const poll = async (store: Driver) => {
      const noted = await cluster.zcard(pollers);
      const polling = store.queue(name).poll(60_000, new AbortController().signal);
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
    await store.queue(name).offer(['hint']);
    expect(await polling).toBe('hint');
    expect(await cluster.zrange(pollers, 0, -1)).toEqual([]);
  });
});
