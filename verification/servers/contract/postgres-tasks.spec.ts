import { lackOfPostgres } from '../archives/postgres-server.js';
import { onPglite, useServerKinds } from './postgres-kinds.js';
import { describeTaskStorageContract } from '../../../test/contract/on-jest.js';

for (const [name, prepare] of Object.entries(useServerKinds())) {
  describeTaskStorageContract({ name, prepare, missing: lackOfPostgres });
}

describeTaskStorageContract({ name: 'postgres() on pglite', prepare: onPglite });
