import { hazelcast, memory } from 'nestjs-gatekeeper';
import { startHazelcast } from '../../lib/testing/index.js';
import { lackOfMembers } from '../needs/members.js';
import { serveStore } from '../stores/remote/host.js';
import { describeStoreContract } from './store.contract.js';
import { UNHURRIED } from './unhurried.js';

describeStoreContract('remote() over memory() on Express', async () => {
  const { app, definition } = await serveStore({ store: memory(), gatekeeper: UNHURRIED });
  return { open: () => definition.open(UNHURRIED), stop: () => app.close() };
});

describeStoreContract('remote() over memory() on Fastify', async () => {
  const { app, definition } = await serveStore({ store: memory(), platform: 'Fastify', gatekeeper: UNHURRIED });
  return { open: () => definition.open(UNHURRIED), stop: () => app.close() };
});

describeStoreContract(
  'remote() over hazelcast()',
  async () => {
    const cluster = await startHazelcast();
    const { clusterName, addresses: members } = cluster;
    const { app, definition } = await serveStore({ store: hazelcast({ clusterName, members }), gatekeeper: UNHURRIED });
    return {
      open: () => definition.open(UNHURRIED),
      stop: async () => {
        await app.close();
        await cluster.stop();
      },
    };
  },
  lackOfMembers,
);
