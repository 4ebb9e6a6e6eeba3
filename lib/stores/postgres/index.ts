import { quoted } from '../../core/decision/texts/hidden-characters.js';
import type { StoreDefinition } from '../../core/store/driver.js';
import { requirePg } from './pg.js';
import { PostgresDriver, placeIn } from './postgres.driver.js';
import { type PostgresStoreOptions, resolveOptions } from './postgres.options.js';

export { PostgresUnusableError } from './failures.js';
export { MissingPackageError } from '../../core/decision/missing-package.error.js';
export { type NamedStatement, type PgConnection, type PgPool, type Queries, type QueryRows } from './pg.js';
export type { PostgresStoreOptions } from './postgres.options.js';

/**
 * Keeps records and tasks in tables of a PostgreSQL database, 13 or newer. The database's clock is cluster time.
 *
 * Opening the store never waits. It connects in the background and retries for ever, with growing, jittered pauses of up
 * to 5 s. Until it is connected, calls fail with StoreUnavailableError, and `health().problem` says why. If the database
 * can't keep records with these options (PostgresUnusableError), the application does not start.
 *
 * @param options the database, or your own pool; see {@link PostgresStoreOptions}
 * @throws InvalidOptionsError listing every fault
 * @throws MissingPackageError if pg is needed but not installed
 * @see https://www.postgresql.org/docs/current/transaction-iso.html#XACT-READ-COMMITTED for the comparison of an update
 */
export function postgres(options: PostgresStoreOptions): StoreDefinition {
  const resolved = resolveOptions(options);
  if (!resolved.pool) requirePg('postgres({ connectionString })');
  const place = `${placeIn(resolved)}, schema ${quoted(resolved.schema)}`;
  return { kind: 'postgres', place, open: (opening) => new PostgresDriver(resolved, opening) };
}
