import { type OwnPool, type Queries, openPool, placeOf, requirePg } from '../../../../stores/postgres/pg.js';
import { explaining } from './refusal.js';

/** A connection that opens at its first use. */
export interface Connection {
  queries(): Promise<Queries>;
  close(): Promise<void>;
}

/** The application's own pool, or the address of a server. */
export interface Target {
  readonly pool?: Queries | undefined;
  readonly connectionString?: string | undefined;
}

/** ms. Shorter than the archive's own timeout of 10 s. */
const PATIENCE = 5000;

/**
 * Returns a function that opens a connection.
 *
 * @throws MissingPackageError if pg is needed but not installed
 */
export function connectionTo({ pool, connectionString }: Target): () => Connection {
  if (pool) return () => given(pool);
  requirePg('postgresHistoryArchive({ connectionString })');
  return () => connect(connectionString!);
}

/** Uses the application's own pool, which the application closes. */
function given(pool: Queries): Connection {
  const queries = explaining(pool, "PostgreSQL of postgresHistoryArchive()'s pool");
  return { queries: async () => queries, close: async () => undefined };
}

function connect(connectionString: string): Connection {
  const config = { connectionString, max: 1, connectionTimeoutMillis: PATIENCE, query_timeout: PATIENCE };
  let pool: OwnPool | undefined;
  return {
    queries: async () => explaining((pool ??= openPool(config)), placeOf(connectionString)),
    close: async () => pool?.end(),
  };
}
