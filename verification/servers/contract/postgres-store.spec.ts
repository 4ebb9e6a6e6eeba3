import { lackOfPostgres } from '../archives/postgres-server.js';
import { useServerKinds } from './postgres-kinds.js';
import { describeStoreContract } from '../../../test/contract/on-jest.js';

const POSITION = 'it reads the changes from the position where it stopped, unless a look at the server failed';

for (const [name, prepare] of Object.entries(useServerKinds())) {
  describeStoreContract({
    name,
    missing: lackOfPostgres,
    ...(name === 'postgres() without notifications' && { lacks: { changeWithoutKey: POSITION } }),
    prepare: async () => ({ ...(await prepare()), quorum: 1, isPagedByPrefix: true }),
  });
}
