import type { Persistence } from '../definition-archive.js';
import { connectionTo } from '../../../archives/postgres/connection.js';
import { NOT_ONE_TARGET, isOneTarget, tableFields } from '../../../archives/postgres/options.js';
import { InvalidOptionsError, faultsOf, onlyFields } from '../../../../core/decision/index.js';
import type { Queries } from '../../../../stores/postgres/pg.js';
import { PostgresArchive } from './postgres-archive.js';

export { PostgresError } from '../../../archives/postgres/refusal.js';

/** Options of `postgresArchive(...)`: either `connectionString` or `pool`. */
export interface PostgresOptions {
  /**
   * Address for a separate connection: "postgres://user:password@host/database". Closed with the gatekeeper. Needs pg.
   */
  readonly connectionString?: string;
  /** A pool of the application, which is never closed: pg's pool, or any object with its `query(text, values)`. */
  readonly pool?: Queries;
  /** Name of the table, with or without a schema: "ops.gatekeeper_definitions". Created if it is missing. */
  readonly table?: string;
}

const MANUAL = {
  archive: 'postgresArchive()',
  page: 'docs/persistence.md',
  rights: 'SELECT, INSERT, UPDATE',
};

const schema = onlyFields(tableFields('gatekeeper_definitions')).refine(isOneTarget, { error: NOT_ONE_TARGET });

/**
 * Keeps the definitions that people changed in a table of PostgreSQL, so that edits, pauses and removals outlive a
 * restart of the whole cluster.
 *
 * @throws InvalidOptionsError listing every fault
 * @throws MissingPackageError if pg is needed but not installed
 */
export function postgresArchive(options: PostgresOptions): Persistence {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw new InvalidOptionsError("postgresArchive()'s options", faultsOf(parsed.error));
  const { table, ...target } = parsed.data;
  const connection = connectionTo(target, MANUAL);
  return { kind: 'postgres', open: () => new PostgresArchive(connection(), table) };
}
