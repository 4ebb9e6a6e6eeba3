import { after, before, describe, it } from 'node:test';
import { describeStoreContract } from 'nestjs-gatekeeper/testing';
import { shelf } from './shelf-driver.js';
import { Shelf } from './shelf.js';

describeStoreContract({
  name: 'shelf()',
  runner: { describe, it, before, after },
  prepare: () => {
    const server = new Shelf();
    const store = shelf(server);
    return {
      open: (options) => store.open(options),
      stop: async () => undefined,
      outage: {
        begin: async () => void (server.isReachable = false),
        end: async () => void (server.isReachable = true),
      },
    };
  },
});
