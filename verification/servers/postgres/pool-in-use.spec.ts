import { Gatekeeper, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { postgres } from '../../../lib/stores/postgres/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { type Pool, PostgresServer, describeOnPostgres } from '../archives/postgres-server.js';

const SILENT = { log() {}, warn() {}, error() {}, debug() {} };

describeOnPostgres('a pool of the application of which all connections are in use', () => {
  let server: PostgresServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await PostgresServer.start();
    pool = await server.pool();
  });
  afterAll(async () => {
    await pool.end();
    await server[Symbol.asyncDispose]();
  });

  const connections = async () => {
    const { rows } = await pool.query(
      "SELECT count(*)::int AS count FROM pg_stat_activity WHERE backend_type = 'client backend'",
    );
    return (rows[0] as { count: number }).count;
  };

  it('keeps no permit from being refreshed: one connection more is opened for that, and closed with the store', async () => {
    const { max } = (pool as unknown as { options: { max: number } }).options;
    const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ store: postgres({ pool }) }), SILENT);
    try {
      await gatekeeper.start();
      await gatekeeper.ready({ timeout: '20s' });
      const result = await gatekeeper.run(
        'export',
        async (permit) => {
          // One of them listens.
          await Promise.all(Array.from({ length: max - 1 }, () => pool.query('SELECT pg_sleep(5)')));
          return permit.isHeld;
        },
        { duration: '3s', atLeastFor: 0 },
      );
      expect(result).toEqual({ executed: true, value: true });
      expect(await connections()).toBeLessThanOrEqual(max + 1);
    } finally {
      await gatekeeper.close();
    }
    // The server counts a closed connection until its process has ended.
    await eventually('the connections beyond the pool are closed', async () => (await connections()) <= max);
  });
});
