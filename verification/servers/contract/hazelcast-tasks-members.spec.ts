import { randomUUID } from 'node:crypto';
import { type Client, HazelcastJsonValue } from 'hazelcast-client';
import { type HazelcastStoreOptions, hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { NoQuorumError, StoreUnavailableError, UnknownOutcomeError } from '../../../lib/core/store/store.errors.js';
import type { Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { describeOnHazelcast } from '../../needs/members.js';
import { closing } from '../../../test/contract/closing.js';
import { eventually } from '../../../test/contract/eventually.js';
import { newClient } from './hazelcast-clients.js';

const never = () => new AbortController().signal;

describeOnHazelcast('Tasks on a member', () => {
  let cluster: HazelcastCluster;
  beforeAll(async () => {
    cluster = await startHazelcast();
  });
  afterAll(() => cluster?.stop());

  const open = async (options: Pick<HazelcastStoreOptions, 'mapName' | 'quorum'> = {}) => {
    const { clusterName, addresses: members } = cluster;
    const store = closing(hazelcast({ clusterName, members, mapName: randomUUID(), ...options }).open());
    await eventually('the store is connected', () => store.health().connected);
    return store;
  };

  it('have no map, index or queue until they are used', async () => {
    const client = await newClient(cluster);
    const mapName = randomUUID();
    const names = async () => {
      const objects = await client.getDistributedObjects();
      return objects
        .map((each) => each.getName().replace(mapName, ''))
        .filter((each) => /tasks|groups|ready/.test(each));
    };
    await using store = await open({ mapName });
    await store.records.compareAndSet('key', undefined, 'text');
    store.queue('mail');
    expect(await names()).toEqual([]);
    await store.tasks.read('key');
    expect(await names()).toEqual(['.tasks']);
    await store.groups.read('key');
    await store.queue('mail').peek();
    expect((await names()).toSorted()).toEqual(['.groups', '.ready.mail', '.tasks']);
    await client.shutdown();
  });

  it('are written with a quorum only', async () => {
    await using store = await open({ quorum: 2 });
    const { tasks, groups } = store;
    const queue = store.queue('mail');
    for (const write of [
      () => tasks.compareAndSet('key', undefined, 'text'),
      () => groups.compareAndSet('key', 'text', 'next'),
      () => tasks.compareAndSet('key', 'text', undefined),
      () => queue.offer(['hint']),
      () => queue.poll(10, never()),
      () => queue.drain(1),
    ]) {
      await expect(write()).rejects.toThrow(NoQuorumError);
    }
    expect(await tasks.read('key')).toBeUndefined();
    expect(await tasks.range('', 'z', 10)).toEqual([]);
    expect(await queue.peek()).toBeUndefined();
  });

  it('wait for the first connection, also when they are written', async () => {
    const { clusterName, addresses: members } = cluster;
    await using store = closing(hazelcast({ clusterName, members, mapName: randomUUID() }).open());
    expect(await store.tasks.compareAndSet('key', undefined, 'text')).toBe(true);
  });

  it('of another program are texts that no task has', async () => {
    const mapName = randomUUID();
    const client = await newClient(cluster);
    await (await client.getMap(`${mapName}.groups`)).put('key', 5);
    await (await client.getQueue(`${mapName}.ready.mail`)).addAll([5, 6, 7]);
    await using store = await open({ mapName });
    const queue = store.queue('mail');
    expect(await store.groups.compareAndSet('key', undefined, 'text')).toBe(false);
    const read = [
      await store.groups.read('key'),
      await queue.peek(),
      await queue.poll(10, never()),
      ...(await queue.drain(2)),
    ];
    expect(read).toEqual([5, 5, 5, 6, 7].map((value) => `not a record: ${value}`));
    await client.shutdown();
  });

  it('are found without asking for all that match', async () => {
    const client = await newClient(cluster);
    const answers: number[] = [];
    const mapName = randomUUID();
    const map = await client.getMap<string, unknown>(`${mapName}.tasks`);
    const entries = Array.from({ length: 20_000 }, (_, i): [string, string] => [randomUUID(), `w|${i}`]);
    await map.setAll(entries);
    const find = map.entrySetWithPredicate.bind(map);
    map.entrySetWithPredicate = async (predicate) => {
      const found = await find(predicate);
      answers.push(found.length);
      return found;
    };
    client.getMap = (async () => map) as typeof client.getMap;
    await using store = closing(hazelcast({ client, mapName }).open());
    await eventually('the store is connected', () => store.health().connected);
    expect(await store.tasks.range('w|', 'x', 100)).toHaveLength(100);
    // About 542 on average. More than 5,000 have a chance below one in a million.
    expect(Math.max(...answers)).toBeLessThan(5000);
    await store.close();
    await client.shutdown();
  });

  it('are waited for longer than one call to the members may take', async () => {
    await using store = await open();
    const began = performance.now();
    expect(await store.queue('mail').poll(7000, never())).toBeUndefined();
    expect(performance.now() - began).toBeGreaterThanOrEqual(6995);
  });

  it('have their index again after all members were lost', async () => {
    const mapName = randomUUID();
    await using store = await open({ mapName });
    await store.tasks.compareAndSet('key', undefined, 'text');
    expect(await hasIndex(cluster, mapName)).toBe(true);

    const [member] = cluster.members;
    await member!.kill();
    await eventually('the connection is lost', () => !store.health().connected);
    await member!.start();
    await eventually('the store is connected', () => store.health().connected);
    expect(await hasIndex(cluster, mapName)).toBe(false);
    await store.tasks.compareAndSet('key', undefined, 'text');
    expect(await hasIndex(cluster, mapName)).toBe(true);
    expect(await store.tasks.range('', 'z', 10)).toEqual([{ key: 'key', text: 'text' }]);
  });

  it('fail with an error that says whether something may have been written, when the member is gone', async () => {
    await using store = await open();
    const [tasks, queue] = [store.tasks, store.queue('mail')];
    await tasks.compareAndSet('key', undefined, 'text');
    await queue.peek();
    const polled = queue.poll(60_000, never()).catch((error: unknown) => error);
    const flow = writeUntilItFails(store);
    await cluster.members[0]!.kill();
    expect(await polled).toBeInstanceOf(UnknownOutcomeError);
    expect(String(await flow)).toMatch(/UnknownOutcomeError|StoreUnavailableError/);
    await eventually('the connection is lost', () => !store.health().connected);
    for (const call of [
      () => tasks.read('key'),
      () => tasks.range('', 'z', 1),
      () => tasks.compareAndSet('key', 'text', 'next'),
      () => queue.offer(['hint']),
      () => queue.poll(60_000, never()),
    ]) {
      await expect(call()).rejects.toThrow(StoreUnavailableError);
    }
  });
});

async function writeUntilItFails({ tasks }: Pick<Driver, 'tasks'>): Promise<unknown> {
  try {
    for (;;) await tasks.compareAndSet(randomUUID(), undefined, 'text');
  } catch (error) {
    return (error as Error).constructor.name;
  }
}

/** An index refuses values that can't be compared. */
async function hasIndex(cluster: HazelcastCluster, mapName: string): Promise<boolean> {
  const client: Client = await newClient(cluster);
  const map = await client.getMap<string, unknown>(`${mapName}.tasks`);
  const refusal = await map.put('probe', new HazelcastJsonValue('{}')).then(
    () => map.delete('probe'),
    (error: Error) => error.message,
  );
  await client.shutdown();
  return refusal?.includes('not Comparable') ?? false;
}
