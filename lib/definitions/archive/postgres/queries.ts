import { placeOf } from '../../../stores/postgres/address.js';
import { type OwnPool, type Queries, openPool } from '../../../stores/postgres/pg.js';
import { explaining } from './refusal.js';

/** A connection that opens at its first use. */
export interface Connection {
  queries(): Promise<Queries>;
  close(): Promise<void>;
}

/** ms. Shorter than the archive's own timeout of 10 s. */
const PATIENCE = 5000;

/** Uses the application's own pool, which the application closes. */
export function given(pool: Queries): Connection {
  const queries = explaining(pool, "PostgreSQL of postgresArchive()'s pool");
  return { queries: async () => queries, close: async () => undefined };
}

export function connect(connectionString: string): Connection {
  const config = { connectionString, max: 1, connectionTimeoutMillis: PATIENCE, query_timeout: PATIENCE };
  let pool: Promise<OwnPool> | undefined;
  return {
    queries: async () => explaining(await (pool ??= openPool(config)), placeOf(connectionString)),
    close: async () => (await pool)?.end(),
  };
}
