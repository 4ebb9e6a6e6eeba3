import { z } from 'zod';
import { InvalidOptionsError, faultsOf, keepingSchema, onlyFields, show } from '../../../../core/decision/index.js';
import { NO_ADDRESS, type Queries, isAddress } from '../../../../stores/postgres/pg.js';
import { DEFAULT_KEEP, type HistoryArchiveDefinition } from '../history-archive.js';
import { connectionTo } from './connection.js';
import { PostgresHistoryArchive } from './postgres-history-archive.js';

export { PostgresError } from './refusal.js';

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

const text = z.string({ error: ({ input }) => `${show(input)} is not text` });

const schema = onlyFields({
  connectionString: text.min(1, { error: 'is empty' }).refine(isAddress, { error: NO_ADDRESS, abort: true }).optional(),
  pool: z
    .custom<Queries | undefined>((value) => typeof (value as Queries | undefined)?.query === 'function', {
      error: "is no pool: give pg's pool, or an object with its query(text, values)",
    })
    .optional(),
  table: text
    .regex(/^[A-Za-z_][A-Za-z0-9_]{0,62}(\.[A-Za-z_][A-Za-z0-9_]{0,62})?$/, {
      error: ({ input }) =>
        `${show(input)} is no table's name: use letters, digits and _, and a schema with a dot before it if needed`,
    })
    .default('gatekeeper_runs'),
  keep: keepingSchema.default(DEFAULT_KEEP),
}).refine(({ connectionString, pool }) => (connectionString === undefined) !== (pool === undefined), {
  error: 'give either connectionString or pool',
});

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
  const connection = connectionTo(target);
  return { kind: 'postgres', open: () => new PostgresHistoryArchive(connection(), table, keep) };
}
