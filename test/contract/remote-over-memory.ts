import { memory, remote } from 'nestjs-gatekeeper';
import { type Platform, TOKENS } from '../console/consoles.js';
import { serveStore } from '../stores/remote/host.js';
import { behindProxy } from './behind-proxy.js';
import { describeStoreContract } from './on-jest.js';
import { UNHURRIED } from './unhurried.js';

/** The contract of a store that an application on this platform serves. */
export function describeRemoteOverMemory(platform: Platform): void {
  describeStoreContract({
    name: `remote() over memory() on ${platform}`,
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
