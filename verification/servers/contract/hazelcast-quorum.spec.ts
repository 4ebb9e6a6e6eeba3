import { randomUUID } from 'node:crypto';
import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { NoQuorumError } from '../../../lib/core/store/store.errors.js';
import type { Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { describeOnHazelcast, itOnHazelcast } from '../../needs/members.js';

const members = (store: Driver, wanted: number) =>
  eventually(`${wanted} members are seen`, () => store.health().members === wanted);

describeOnHazelcast('With a quorum of the majority of three members', () => {
  let cluster: HazelcastCluster;
  let store: Driver;

  beforeAll(async () => {
    cluster = await startHazelcast({ members: 2 });
    const { clusterName, addresses } = cluster;
    store = hazelcast({ clusterName, members: addresses, quorum: 'majority', expectedMembers: 3 }).open();
    await members(store, 2);
  });
  afterAll(async () => {
    await store?.close();
    await cluster?.stop();
  });

  it('two members are enough, and no write waits for a backup that can not be acknowledged', async () => {
    const took: number[] = [];
    for (let i = 0; i < 50; i += 1) {
      const began = performance.now();
      expect(await store.records.compareAndSet(randomUUID(), undefined, 'text')).toBe(true);
      took.push(performance.now() - began);
    }
    // A client waits 5 s for the acknowledgement of a backup.
    expect(Math.max(...took)).toBeLessThan(4000);
    expect(store.health()).toEqual({ connected: true, members: 2, expected: 3, quorum: 2 });
  });

  it('one member may be read, but nothing is written', async () => {
    const key = randomUUID();
    await cluster.members[1]!.kill();
    await members(store, 1);
    await expect(store.records.compareAndSet(key, undefined, 'never')).rejects.toThrow(NoQuorumError);
    await expect(store.records.compareAndSet(key, undefined, 'never')).rejects.toThrow('1 of at least 2 members');
    expect(await store.records.read(key)).toBeUndefined();
  });

  it('a lost connection is no quorum either', async () => {
    await cluster.members[0]!.kill();
    await members(store, 0);
    await expect(store.records.compareAndSet(randomUUID(), undefined, 'never')).rejects.toThrow(NoQuorumError);
  });
});

itOnHazelcast('Split-brain protection on the members is reported as a missing quorum', async () => {
  await using cluster = await startHazelcast({ minimumClusterSize: 2 });
  const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses }).open();
  await members(store, 1);
  await expect(store.records.compareAndSet('key', undefined, 'never')).rejects.toThrow(NoQuorumError);
  await expect(store.records.read('key')).rejects.toThrow(NoQuorumError);
  await expect(store.now()).resolves.toBeDefined();
  expect(store.health().problem).toContain('split-brain protection');
  await store.close();
});
