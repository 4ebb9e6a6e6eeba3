import { lackOfPostgres } from '../archives/postgres-server.js';
import { onPglite, useServerKinds } from './postgres-kinds.js';
import { describeStoreContract } from '../../../test/contract/on-jest.js';

const POSITION = 'it reads the changes from the position where it stopped, unless a look at the server failed';
const FIGURES = { quorum: 1, isPagedByPrefix: true };

for (const [name, prepare] of Object.entries(useServerKinds())) {
  describeStoreContract({
    name,
    missing: lackOfPostgres,
    ...(name === 'postgres() without notifications' && { lacks: { changeWithoutKey: POSITION } }),
    prepare: async () => ({ ...(await prepare()), ...FIGURES }),
  });
}

describeStoreContract({
  name: 'postgres() on pglite',
  lacks: { outage: 'the database runs in the process of the test' },
  prepare: async () => ({ ...(await onPglite()), ...FIGURES }),
});
