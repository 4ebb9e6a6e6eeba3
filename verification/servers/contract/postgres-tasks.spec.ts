import { lackOfPostgres } from '../archives/postgres-server.js';
import { ON_A_SERVER, onPglite, stopServer } from './postgres-kinds.js';
import { describeTaskStorageContract } from '../../../test/contract/on-jest.js';

afterAll(stopServer);

for (const [name, prepare] of Object.entries(ON_A_SERVER)) {
  describeTaskStorageContract({ name, prepare, missing: lackOfPostgres });
}

describeTaskStorageContract({ name: 'postgres() on pglite', prepare: onPglite });
