import { createRequire } from 'node:module';
import { join } from 'node:path';
import packageRoot from '../../../../package-root.cjs';
import { MissingPackageError } from '../../../decision/missing-package.error.js';
import { placeOf } from './address.js';
import { explaining } from './refusal.js';
import type { Queries } from './refusal.js';

/** The part of pg that is used. */
interface Pg {
  readonly Pool: new (config: object) => Pool;
}

interface Pool extends Queries {
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/** A variable, so that compilers and bundlers do not look for a package that may not be installed. */
const PACKAGE: string = 'pg';

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
  let pool: Promise<Pool> | undefined;
  return {
    queries: async () => explaining(await (pool ??= openPool(connectionString)), placeOf(connectionString)),
    close: async () => (await pool)?.end(),
  };
}

/**
 * Checks at the start that pg is installed: later, nothing could run without the archive.
 *
 * @throws MissingPackageError
 */
export function requirePg(
  resolve: (name: string) => unknown = createRequire(join(packageRoot, 'package.json')).resolve,
): void {
  try {
    resolve(PACKAGE);
  } catch (cause) {
    throw new MissingPackageError('postgresArchive({ connectionString }) needs the package pg: npm install pg', {
      cause,
    });
  }
}

async function openPool(connectionString: string): Promise<Pool> {
  const { Pool } = ((await import(PACKAGE)) as { default: Pg }).default;
  const pool = new Pool({
    connectionString,
    max: 1,
    connectionTimeoutMillis: PATIENCE,
    query_timeout: PATIENCE,
    allowExitOnIdle: true,
  });
  // An idle connection may break. Without a listener that would end the process. The next call reports it.
  pool.on('error', () => undefined);
  return pool;
}
