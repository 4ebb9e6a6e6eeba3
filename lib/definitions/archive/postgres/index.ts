import { z } from 'zod';
import type { Persistence } from '../definition-archive.js';
import { InvalidOptionsError, faultsOf, show, onlyFields } from '../../../decision/index.js';
import { PostgresArchive } from './postgres-archive.js';
import { isAddress, NO_ADDRESS } from '../../../stores/postgres/address.js';
import { type Queries, requirePg } from '../../../stores/postgres/pg.js';
import { connect, given } from './queries.js';

export { PostgresError } from './refusal.js';

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
    .default('gatekeeper_definitions'),
}).refine(({ connectionString, pool }) => (connectionString === undefined) !== (pool === undefined), {
  error: 'give either connectionString or pool',
});

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
  const { connectionString, pool, table } = parsed.data;
  if (!pool) requirePg('postgresArchive({ connectionString })');
  const connection = () => (pool ? given(pool) : connect(connectionString!));
  return { kind: 'postgres', open: () => new PostgresArchive(connection(), table) };
}
