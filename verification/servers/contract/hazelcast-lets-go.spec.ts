import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Client, ReconnectMode } from 'hazelcast-client';
import { type HazelcastStoreOptions, hazelcast } from '../../../lib/stores/hazelcast/index.js';
import type { Driver } from '../../../lib/core/store/driver.js';
import { type HazelcastCluster, startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { newClient } from './hazelcast-clients.js';
import { describeOnHazelcast } from '../../needs/members.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** The client's own, not part of its types. */
interface Inside {
  getConnectionManager(): { getConnectionRegistry(): { getConnections(): readonly object[] } };
}

describeOnHazelcast('A store whose member was restarted', () => {
  let cluster: HazelcastCluster;
  const closing: (() => Promise<void>)[] = [];

  const opened = async (options: HazelcastStoreOptions): Promise<Driver> => {
    const store = hazelcast(options).open();
    closing.unshift(() => store.close());
    await eventually('the store is connected', () => store.health().connected);
    return store;
  };
  /** The store works on it, and listens to it. */
  const use = async (store: Driver): Promise<void> => {
    await store.watch('', () => undefined);
    await store.now();
  };
  const restartMember = async (store: Driver): Promise<void> => {
    const [member] = cluster.members;
    await member!.kill();
    await eventually('the store is disconnected', () => !store.health().connected);
    await member!.start();
    await eventually('the store is connected', () => store.health().connected);
    await store.now();
  };
  const isCollected = (reference: WeakRef<object>) => (): boolean => {
    collectGarbage();
    return reference.deref() === undefined;
  };

  beforeAll(async () => {
    cluster = await startHazelcast();
  });
  afterEach(async () => {
    for (const close of closing.splice(0)) await close();
    jest.restoreAllMocks();
  });
  afterAll(() => cluster?.stop());

  it('lets go of the connection that was lost, while the client of the application goes on', async () => {
    const connectionStrategy = { reconnectMode: ReconnectMode.ASYNC, connectionRetry: { initialBackoffMillis: 100 } };
    const client = await newClient(cluster, { connectionStrategy });
    closing.push(() => client.shutdown());
    const store = await opened({ client });
    await use(store);
    const connections = () =>
      (client as Client & Inside).getConnectionManager().getConnectionRegistry().getConnections();
    const former = new WeakRef(connections()[0]!);
    expect(isCollected(former)()).toBe(false);
    await restartMember(store);
    await eventually('the connection is collected', isCollected(former));
  });

  it('lets go of its own client that lost the cluster', async () => {
    const made: WeakRef<Client>[] = [];
    const { newHazelcastClient } = Client;
    jest.spyOn(Client, 'newHazelcastClient').mockImplementation(async (config) => {
      const client = await newHazelcastClient.call(Client, config);
      made.push(new WeakRef(client));
      return client;
    });
    const store = await opened({ clusterName: cluster.clusterName, members: cluster.addresses });
    await use(store);
    const [former] = made;
    expect(isCollected(former!)()).toBe(false);
    await restartMember(store);
    jest.restoreAllMocks();
    await eventually('the client is collected', isCollected(former!));
  });
});
