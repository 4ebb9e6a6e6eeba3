import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { startHazelcast } from '../../../lib/testing/index.js';
import { lackOfMembers } from '../../needs/members.js';
import { useShared } from '../../support/shared.js';
import type { StoreUnderTest } from '../../../lib/testing/contract/index.js';
import { describeStoreContract } from '../../../test/contract/on-jest.js';
import { CP_CLUSTER } from './cp-cluster.js';
import { newClient } from './hazelcast-clients.js';

/** One member for all kinds of stores but CP: the contract's keys are random, and so meet in no map. */
const member = useShared(() => startHazelcast());

/** The client connects to the addresses that members announce, so no proxy can cut it off. */
const KILLS = 'hazelcast-connection.spec.ts and hazelcast-failed-writes.spec.ts kill and cut off members';

const onMembers = (name: string, prepare: () => Promise<StoreUnderTest>) =>
  describeStoreContract({ name, prepare, missing: lackOfMembers, lacks: { outage: KILLS } });

onMembers('hazelcast() with its own client', async () => {
  const cluster = await member();
  const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses });
  return { open: (options) => store.open(options), stop: async () => undefined };
});

onMembers('hazelcast() over the clients of an application', async () => {
  const cluster = await member();
  const clients = await Promise.all(Array.from({ length: 12 }, () => newClient(cluster)));
  let next = 0;
  return {
    open: (options) => hazelcast({ client: clients[next++ % clients.length]! }).open(options),
    stop: async () => void (await Promise.all(clients.map((client) => client.shutdown()))),
  };
});

onMembers("hazelcast({ acquisition: 'pessimistic' })", async () => {
  const cluster = await member();
  const { clusterName, addresses: members } = cluster;
  const store = hazelcast({ clusterName, members, acquisition: 'pessimistic' });
  return { open: (options) => store.open(options), stop: async () => undefined };
});

onMembers('hazelcast({ cp: true })', async () => {
  const cluster = await startHazelcast(CP_CLUSTER);
  const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses, cp: true });
  return {
    open: (options) => store.open(options),
    stop: () => cluster.stop(),
    members: 3,
    largestPage: Infinity, // listed key by key
  };
});
