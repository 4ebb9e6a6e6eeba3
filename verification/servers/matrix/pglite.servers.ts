import { PGlite } from '@electric-sql/pglite';
import { postgres } from '../../../lib/stores/postgres/index.js';
import type { StoreUnderTest } from '../../../lib/testing/contract/index.js';
import { describeStoreContract } from '../../../test/contract/on-jest.js';

/** A store over a database in this process, which runs one statement at a time. */
async function prepare(): Promise<StoreUnderTest> {
  const pool = await PGlite.create();
  const store = postgres({ pool, notifications: false, pollInterval: 50 });
  return { open: (options) => store.open(options), stop: () => pool.close(), quorum: 1, isPagedByPrefix: true };
}

const name = 'postgres() on pglite';
describeStoreContract({ name, lacks: { outage: 'the database runs in the process of the test' }, prepare });
