import { afterAll } from '@jest/globals';
import { lackOfPostgres } from '../definitions/archive/postgres-server.js';
import { ON_A_SERVER, onPglite, stopServer } from './postgres-kinds.js';
import { describeStoreContract } from './store.contract.js';

afterAll(stopServer);

for (const [name, prepare] of Object.entries(ON_A_SERVER)) {
  describeStoreContract(name, async () => ({ ...(await prepare()), quorum: 1, isPagedByPrefix: true }), lackOfPostgres);
}

describeStoreContract('postgres() on pglite', async () => ({
  ...(await onPglite()),
  quorum: 1,
  isPagedByPrefix: true,
}));
