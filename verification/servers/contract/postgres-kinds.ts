import type { StoreUnderTest } from '../../../lib/testing/contract/index.js';
import { postgres } from '../../../lib/stores/postgres/index.js';
import { PostgresServer } from '../../support/postgres-server.js';
import { useShared } from '../../support/shared.js';
import { behindProxy } from '../../../test/contract/behind-proxy.js';

/** Short, so that tests do not wait for it. */
const POLLED = { notifications: false, pollInterval: 50 } as const;

/** The ways to use a real server, on one server for the tests of this file: each has a schema of its own. */
export function useServerKinds(): Readonly<Record<string, () => Promise<StoreUnderTest>>> {
  const server = useShared(() => PostgresServer.start());

  /** The server's address behind a proxy that can cut its clients off. */
  async function addressBehindProxy() {
    const { port, outage, close } = await behindProxy((await server()).port);
    const address = new URL((await server()).address());
    address.port = String(port);
    return { connectionString: address.href, outage, close };
  }

  return {
    'postgres() with its own connections': async () => {
      const { connectionString, outage, close } = await addressBehindProxy();
      const store = postgres({ connectionString, maxConnections: 4, schema: 'own' });
      return { open: (options) => store.open(options), stop: close, outage };
    },
    'postgres() over the pool of an application': async () => {
      const { connectionString, outage, close } = await addressBehindProxy();
      const pool = await (await server()).pool({ max: 40, connectionString });
      const store = postgres({ pool, schema: 'given' });
      const stop = async () => {
        await pool.end();
        await close();
      };
      return { open: (options) => store.open(options), stop, outage };
    },
    'postgres() without notifications': async () => {
      const { connectionString, outage, close } = await addressBehindProxy();
      const store = postgres({ connectionString, maxConnections: 4, schema: 'polled', ...POLLED });
      return { open: (options) => store.open(options), stop: close, outage };
    },
  };
}
