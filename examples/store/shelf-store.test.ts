import { after, before, describe, it } from 'node:test';
import { describeStoreContract } from 'nestjs-gatekeeper/testing';
import { shelfStore } from './shelf-store.js';
import { Shelf } from './shelf.js';

describeStoreContract({
  name: 'shelfStore()',
  runner: { describe, it, before, after },
  lacks: {
    page: 'a shelf is small, so list() is enough',
    readMany: 'a shelf is small, so the keys are read one by one',
    tasks: 'it is for applications without tasks',
  },
  prepare: () => {
    const shelf = new Shelf();
    const store = shelfStore(shelf);
    return {
      open: (options) => store.open(options),
      stop: async () => undefined,
      outage: {
        begin: async () => void (shelf.isReachable = false),
        end: async () => void (shelf.isReachable = true),
      },
    };
  },
});
