import { randomUUID } from 'node:crypto';
import { type Client, type ClientConfig, ReconnectMode } from 'hazelcast-client';
import { ClockPrefetchError, hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { StoreUnavailableError } from '../../../lib/core/store/store.errors.js';
import type { RecordChange, Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { newClient } from './hazelcast-clients.js';
import { describeOnHazelcast } from '../../needs/members.js';

describeOnHazelcast('A store over the client of an application', () => {
  let cluster: HazelcastCluster;
  const clients: Client[] = [];

  const clientWith = async (config?: ClientConfig): Promise<Client> => {
    const client = await newClient(cluster, config);
    clients.push(client);
    return client;
  };
  const openOver = async (client: Client): Promise<Driver> => {
    const store = hazelcast({ client }).open();
    await eventually('the store is connected', () => store.health().connected);
    return store;
  };

  beforeAll(async () => {
    cluster = await startHazelcast();
  });
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.shutdown()));
  });
  afterAll(() => cluster?.stop());

  it('never closes the client, and leaves none of its listeners on it', async () => {
    const client = await clientWith();
    const lifecycle = client.getLifecycleService() as unknown as NodeJS.EventEmitter;
    const before = lifecycle.listenerCount('lifecycleEvent');
    const store = await openOver(client);
    expect(lifecycle.listenerCount('lifecycleEvent')).toBe(before + 1);
    await store.close();
    expect(lifecycle.listenerCount('lifecycleEvent')).toBe(before);
    expect(client.getLifecycleService().isRunning()).toBe(true);
    expect(await (await client.getMap('gatekeeper.records')).get('key')).toBeNull();
  });

  it('is closed in the end though a member never answers that its listener is off', async () => {
    const client = await clientWith();
    const store = await openOver(client);
    const records = await client.getMap('gatekeeper.records');
    const asked = jest.spyOn(records, 'removeEntryListener').mockReturnValue(new Promise(() => undefined));
    await store.close();
    expect(asked).toHaveBeenCalledTimes(1);
  });

  it.each([ReconnectMode.ASYNC, ReconnectMode.ON])(
    'is unavailable while the client is offline, and hears changes once when it is back (%s)',
    async (reconnectMode) => {
      const connectionStrategy = { reconnectMode, connectionRetry: { initialBackoffMillis: 100 } };
      const store = await openOver(await clientWith({ connectionStrategy }));
      const [changes, key]: [RecordChange[], string] = [[], randomUUID()];
      await store.watch(key, (change) => changes.push(change));
      await cluster.members[0]!.kill();
      await eventually('the store is disconnected', () => !store.health().connected);
      await expect(store.records.compareAndSet(key, undefined, 'never')).rejects.toThrow(StoreUnavailableError);
      expect(store.health().members).toBe(0);

      await cluster.members[0]!.start();
      await eventually('the store is connected', () => store.health().connected);
      expect(changes).toContainEqual({});
      expect(await store.records.compareAndSet(key, undefined, 'again')).toBe(true);
      await eventually('the change', () => changes.some(({ text }) => text === 'again'));
      expect(changes.filter(({ text }) => text === 'again')).toHaveLength(1);
      await store.close();
    },
  );

  it('says which config is missing when ids are fetched in advance', async () => {
    const store = await openOver(await clientWith({ flakeIdGenerators: {} }));
    const error = await store.now().catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(ClockPrefetchError);
    expect((error as Error).message).toContain("{ flakeIdGenerators: { 'gatekeeper.clock*': { prefetchCount: 1 } } }");
    await store.close();
  });

  it('checks the clock once and not at each reading', async () => {
    const client = await clientWith();
    const store = await openOver(client);
    await store.now();
    const asked = jest.spyOn(await client.getFlakeIdGenerator('gatekeeper.clock'), 'newId');
    await store.now();
    expect(asked).toHaveBeenCalledTimes(1);
    await store.close();
  });

  it('stays unavailable after the application closed the client, and says so', async () => {
    const client = await clientWith();
    const store = await openOver(client);
    await client.shutdown();
    await eventually('the reason', () => store.health().problem!.includes('shut down'));
    await expect(store.records.read('key')).rejects.toThrow(store.health().problem);
    await store.close();
  });
});
