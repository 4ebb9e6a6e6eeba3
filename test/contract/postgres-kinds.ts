import { PGlite } from '@electric-sql/pglite';
import type { RecordStore } from '../../lib/stores/store.js';
import { postgres } from '../../lib/stores/postgres/index.js';
import { PostgresServer } from '../definitions/archive/postgres-server.js';
import { UNHURRIED } from './unhurried.js';

interface UnderTest {
  open(): RecordStore;
  stop(): Promise<void>;
}

/** Short, so that tests do not wait for it. */
const POLLED = { notifications: false, pollInterval: 50 } as const;

/** One server for all kinds of stores: each has a schema of its own. */
let shared: Promise<PostgresServer> | undefined;
const server = () => (shared ??= PostgresServer.start());
export const stopServer = async (): Promise<void> => (await shared)?.[Symbol.asyncDispose]();

/** The ways to use a real server. */
export const ON_A_SERVER: Readonly<Record<string, () => Promise<UnderTest>>> = {
  'postgres() with its own connections': async () => {
    const store = postgres({ connectionString: (await server()).address(), maxConnections: 4, schema: 'own' });
    return { open: () => store.open(UNHURRIED), stop: async () => undefined };
  },
  'postgres() over the pool of an application': async () => {
    const pool = await (await server()).pool({ max: 40 });
    const store = postgres({ pool, schema: 'given' });
    return { open: () => store.open(UNHURRIED), stop: () => pool.end() };
  },
  'postgres() without notifications': async () => {
    const connectionString = (await server()).address();
    const store = postgres({ connectionString, maxConnections: 4, schema: 'polled', ...POLLED });
    return { open: () => store.open(UNHURRIED), stop: async () => undefined };
  },
};

/** A database in this process, which runs one statement at a time. */
export async function onPglite(): Promise<UnderTest> {
  const pool = await PGlite.create();
  const store = postgres({ pool, ...POLLED });
  return { open: () => store.open(UNHURRIED), stop: () => pool.close() };
}
