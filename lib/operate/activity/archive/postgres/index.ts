import { connectionTo } from '../../../archives/postgres/connection.js';
import { NOT_ONE_TARGET, isOneTarget, tableFields } from '../../../archives/postgres/options.js';
import { InvalidOptionsError, faultsOf, keepingSchema, onlyFields } from '../../../../core/decision/index.js';
import type { Queries } from '../../../../stores/postgres/pg.js';
import { DEFAULT_KEEP, type HistoryArchiveDefinition } from '../history-archive.js';
import { PostgresHistoryArchive } from './postgres-history-archive.js';

/** Options of `postgresHistoryArchive(...)`: either `connectionString` or `pool`. */
export interface PostgresHistoryOptions {
  /**
   * Address for a separate connection: "postgres://user:password@host/database". Closed with the gatekeeper. Needs pg.
   */
  readonly connectionString?: string;
  /** A pool of the application, which is never closed: pg's pool, or any object with its `query(text, values)`. */
  readonly pool?: Queries;
  /** Name of the table, with or without a schema: "ops.gatekeeper_runs". Created if it is missing. */
  readonly table?: string;
  /** How long a run is kept after its end, ms or text. At most ten years. Default "90d". */
  readonly keep?: number | string;
}

const MANUAL = {
  archive: 'postgresHistoryArchive()',
  page: 'docs/operations.md',
  rights: 'SELECT, INSERT, UPDATE, DELETE',
};

const schema = onlyFields({
  ...tableFields('gatekeeper_runs'),
  keep: keepingSchema.default(DEFAULT_KEEP),
}).refine(isOneTarget, { error: NOT_ONE_TARGET });

/**
 * Keeps the runs of all nodes in a table of PostgreSQL, one row each. For the option `history: { archive }`. The nodes of
 * a cluster share the table.
 *
 * @throws InvalidOptionsError listing every fault
 * @throws MissingPackageError if pg is needed but not installed
 */
export function postgresHistoryArchive(options: PostgresHistoryOptions): HistoryArchiveDefinition {
  const parsed = schema.safeParse(options);
  if (!parsed.success) throw new InvalidOptionsError("postgresHistoryArchive()'s options", faultsOf(parsed.error));
  const { table, keep, ...target } = parsed.data;
  const connection = connectionTo(target, MANUAL);
  return { kind: 'postgres', open: () => new PostgresHistoryArchive(connection(), table, keep) };
}
