import { hazelcast } from 'nestjs-gatekeeper';
import { startHazelcast } from '../../../lib/testing/index.js';
import { describeStoreContract } from '../../../test/contract/on-jest.js';
import { describeRemoteOverMemory } from '../../../test/contract/remote-over-memory.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';
import { lackOfMembers } from '../../needs/members.js';
import { serveStore } from '../../../test/stores/remote/host.js';

describeRemoteOverMemory('Fastify');

describeStoreContract({
  name: 'remote() over hazelcast()',
  lacks: { outage: 'the contract over memory() has it' },
  prepare: async () => {
    const cluster = await startHazelcast();
    const { clusterName, addresses: members } = cluster;
    const { app, definition } = await serveStore({ store: hazelcast({ clusterName, members }), gatekeeper: UNHURRIED });
    return {
      open: (options) => definition.open(options),
      stop: async () => {
        await app.close();
        await cluster.stop();
      },
    };
  },
  missing: lackOfMembers,
});
