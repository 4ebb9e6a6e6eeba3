import { lackOfPostgres } from '../archives/postgres-server.js';
import { useServerKinds } from './postgres-kinds.js';
import { describeTaskStorageContract } from '../../../test/contract/on-jest.js';

for (const [name, prepare] of Object.entries(useServerKinds())) {
  describeTaskStorageContract({ name, prepare, missing: lackOfPostgres });
}
