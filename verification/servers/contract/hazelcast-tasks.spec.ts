import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { startHazelcast } from '../../../lib/testing/index.js';
import { lackOfMembers } from '../../needs/members.js';
import { useShared } from '../../support/shared.js';
import { newClient } from './hazelcast-clients.js';
import type { ClientsUnderTest } from '../../../lib/testing/contract/index.js';
import { describeTaskStorageContract } from '../../../test/contract/on-jest.js';

/** One member for all kinds of stores: the contract's keys and names are random, and so meet nowhere. */
const member = useShared(() => startHazelcast());

const onMembers = (name: string, prepare: () => Promise<ClientsUnderTest>) =>
  describeTaskStorageContract({ name, prepare, missing: lackOfMembers });

onMembers('hazelcast() with its own client', async () => {
  const cluster = await member();
  const store = hazelcast({ clusterName: cluster.clusterName, members: cluster.addresses });
  return { open: (options) => store.open(options), stop: async () => undefined };
});

onMembers('hazelcast() over the clients of an application', async () => {
  const cluster = await member();
  const clients = await Promise.all(Array.from({ length: 14 }, () => newClient(cluster)));
  let next = 0;
  return {
    open: (options) => hazelcast({ client: clients[next++ % clients.length]! }).open(options),
    stop: async () => void (await Promise.all(clients.map((client) => client.shutdown()))),
  };
});
