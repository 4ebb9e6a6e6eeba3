import { hazelcast, memory, remote } from 'nestjs-gatekeeper';
import { startHazelcast } from '../../lib/testing/index.js';
import { lackOfMembers } from '../needs/members.js';
import { TOKENS } from '../console/consoles.js';
import { serveStore } from '../stores/remote/host.js';
import { behindProxy } from './behind-proxy.js';
import { describeStoreContract } from './on-jest.js';
import { UNHURRIED } from './unhurried.js';

const TASKS = 'tasks need a store of their own, so remote() does not pass them on';

for (const platform of ['Express', 'Fastify'] as const) {
  describeStoreContract({
    name: `remote() over memory() on ${platform}`,
    lacks: { tasks: TASKS },
    prepare: async () => {
      const { app, port } = await serveStore({ store: memory(), platform, gatekeeper: UNHURRIED });
      const proxy = await behindProxy(port);
      const url = `http://127.0.0.1:${proxy.port}/gatekeeper`;
      const store = remote({ url, token: TOKENS.node });
      const stop = async () => {
        await app.close();
        await proxy.close();
      };
      return { open: (options) => store.open(options), stop, outage: proxy.outage };
    },
  });
}

describeStoreContract({
  name: 'remote() over hazelcast()',
  lacks: { tasks: TASKS, outage: 'the contract over memory() has it' },
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
