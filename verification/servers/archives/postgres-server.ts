import { describeUnless } from '../../../test/support/unless.js';
import { lackOfPostgres } from '../../support/postgres-server.js';

export * from '../../support/postgres-server.js';

/** Tests that need a PostgreSQL. */
export const describeOnPostgres = describeUnless(lackOfPostgres);
