import { randomUUID } from 'node:crypto';
import type { Client } from 'hazelcast-client';
import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import type { Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { newClient } from './hazelcast-clients.js';
import { LockHolder } from './lock-holder/lock-holder.js';
import { describeOnHazelcast } from '../../needs/members.js';

const MAP = 'gatekeeper.records';
const CALL_TIMEOUT = 2000;

describeOnHazelcast('A record whose lock was left behind', () => {
  let cluster: HazelcastCluster;
  let client: Client;
  let store: Driver;

  beforeAll(async () => {
    cluster = await startHazelcast({ members: 3 });
    client = await newClient(cluster);
    const { clusterName, addresses: members } = cluster;
    store = hazelcast({ clusterName, members, acquisition: 'pessimistic' }).open({ callTimeout: CALL_TIMEOUT });
    await eventually('the store is connected to all', () => store.health().members === 3);
  });
  afterAll(async () => {
    await store?.close();
    await client?.shutdown();
    await cluster?.stop();
  });

  const written = async () => {
    const key = randomUUID();
    // The first calls of a cluster that has just come up may take longer than one call may.
    await eventually('it is written', () => store.records.compareAndSet(key, undefined, 'before'));
    return key;
  };
  const holder = (key: string, signal: 'SIGKILL' | 'SIGSTOP') => {
    const { clusterName, addresses: members } = cluster;
    return LockHolder.interrupted({ clusterName, members, key, expected: 'before', next: 'of the holder', signal });
  };
  const took = async (work: () => Promise<unknown>) => {
    const began = performance.now();
    await work();
    return performance.now() - began;
  };

  it('by a client that was killed is written within the time of one call', async () => {
    const key = await written();
    await using _holder = await holder(key, 'SIGKILL');
    expect(
      await took(async () => expect(await store.records.compareAndSet(key, 'before', 'after')).toBe(true)),
    ).toBeLessThan(CALL_TIMEOUT);
    expect(await store.records.read(key)).toBe('after');
  });

  it('by a client that was frozen is written within the time of one call, and not by that one when it wakes', async () => {
    const key = await written();
    await using frozen = await holder(key, 'SIGSTOP');
    expect(
      await took(async () => expect(await store.records.compareAndSet(key, 'before', 'after')).toBe(true)),
    ).toBeLessThan(CALL_TIMEOUT);
    expect(await frozen.goOn()).toBe('false');
    expect(await store.records.read(key)).toBe('after');
  });

  it('by a frozen client is written by that one when it wakes, if no other client has written meanwhile', async () => {
    const key = await written();
    await using frozen = await holder(key, 'SIGSTOP');
    const map = await client.getMap(MAP);
    await eventually('the lease has ended', async () => !(await map.isLocked(key)));
    expect(await frozen.goOn()).toBe('true');
    expect(await store.records.compareAndSet(key, 'before', 'never')).toBe(false);
    expect(await store.records.read(key)).toBe('of the holder');
  });

  it('with a lease that does not end, as after a clock was set back, is taken by force', async () => {
    const key = await written();
    const map = await client.getMap(MAP);
    await eventually('the lock is had', () => map.tryLock(key, 0, 600_000));
    expect(
      await took(async () => expect(await store.records.compareAndSet(key, 'before', 'after')).toBe(true)),
    ).toBeLessThan(CALL_TIMEOUT);
    await expect(map.unlock(key)).rejects.toThrow('not owner');
    expect(await store.records.read(key)).toBe('after');
  });

  it('and whose owner dies with its holder is written, and not by the holder when it wakes', async () => {
    const key = await written();
    await using frozen = await holder(key, 'SIGSTOP');
    const owner = ownerOf(key);
    await owner.kill();
    await eventually('it is written', async () => {
      if ((await store.records.read(key)) === 'after') return true;
      return store.records.compareAndSet(key, 'before', 'after');
    });
    // Its write was sent to the dead member, or went to the new owner, which refused it.
    expect(await frozen.goOn()).toMatch(/^(false|unknown-outcome)$/);
    expect(await store.records.read(key)).toBe('after');
    await owner.start();
  });

  function ownerOf(key: string) {
    const partitions = client.getPartitionService();
    const uuid = partitions.getPartitionOwner(partitions.getPartitionId(key))!;
    const { address } = client
      .getCluster()
      .getMembers()
      .find((member) => member.uuid.equals(uuid))!;
    return cluster.members.find((member) => member.address === `${address.host}:${address.port}`)!;
  }
});
