import { GatekeeperError } from '../../semaphores/index.js';

/** What is asked of a pool: pg's has it. */
export interface Queries {
  query(text: string, values?: unknown[]): Promise<{ readonly rows: unknown[] }>;
}

/** An optional package is not installed. */
export class MissingPackageError extends GatekeeperError {
  readonly code = 'missing-package';
}

/** What is used of pg. */
interface Pg {
  readonly Pool: new (config: object) => Pool;
}

interface Pool extends Queries {
  on(event: 'error', listener: (error: Error) => void): unknown;
  end(): Promise<void>;
}

/** In a variable: no compiler and no bundler is to look for it where it is not installed. */
const PACKAGE: string = 'pg';

/** Connections that are opened when they are first asked for. */
export interface Connection {
  queries(): Promise<Queries>;
  close(): Promise<void>;
}

/** ms; the archive gives its caller up to 10 s. */
const PATIENCE = 5000;

/** The application's own pool, which it closes itself. */
export function given(pool: Queries): Connection {
  return { queries: async () => pool, close: async () => undefined };
}

/** @throws MissingPackageError, from its calls, when pg is not installed */
export function connect(connectionString: string): Connection {
  let pool: Promise<Pool> | undefined;
  return {
    queries: () => (pool ??= openPool(connectionString)),
    close: async () => (await pool)?.end(),
  };
}

async function openPool(connectionString: string): Promise<Pool> {
  const { Pool } = await loadPg();
  const pool = new Pool({
    connectionString,
    max: 1,
    connectionTimeoutMillis: PATIENCE,
    query_timeout: PATIENCE,
    allowExitOnIdle: true,
  });
  // A connection that breaks while nobody uses it: without a listener the process would end. The next call tells.
  pool.on('error', () => undefined);
  return pool;
}

async function loadPg(): Promise<Pg> {
  try {
    return ((await import(PACKAGE)) as { default: Pg }).default;
  } catch (error) {
    throw new MissingPackageError('postgres({ connectionString }) needs the package pg: npm install pg', {
      cause: error,
    });
  }
}
