import { postgres } from '../../../lib/stores/postgres/index.js';
import { closing } from '../../../test/contract/closing.js';
import { eventually } from '../../../test/contract/eventually.js';
import { type Pool, PostgresServer, describeOnPostgres } from '../archives/postgres-server.js';

describeOnPostgres('a table of an older version', () => {
  let server: PostgresServer;
  let admin: Pool;
  beforeAll(async () => {
    server = await PostgresServer.start();
    admin = await server.pool();
  });
  beforeEach(async () => {
    await admin.query('DROP SCHEMA IF EXISTS gatekeeper CASCADE');
  });
  afterAll(async () => {
    await admin?.end();
    await server?.[Symbol.asyncDispose]();
  });

  it('is changed after a backup that reads it, and the calls of other nodes do not wait for that', async () => {
    {
      await using former = closing(postgres({ pool: admin }).open());
      await eventually('the tables are there', () => former.health().connected);
    }
    await admin.query('ALTER TABLE gatekeeper.records DROP COLUMN origin');
    const backup = await admin.connect();
    await backup.query('BEGIN; SELECT count(*) FROM gatekeeper.records');
    // That of an application has no limit for its statements.
    const [pool, others] = await Promise.all([server.pool(), server.pool({ statement_timeout: 3000 })]);
    const store = postgres({ pool }).open();
    try {
      const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE 'DO %'`;
      await eventually('the change waits', async () => (await admin.query(waits)).rows.length > 0);
      expect((await others.query('SELECT key FROM gatekeeper.records')).rows).toEqual([{ key: 'hint-key' }]);
      await backup.query('COMMIT');
      await eventually('the table is changed', () => store.health().connected, 15_000);
    } finally {
      backup.release();
      await store.close();
      await Promise.all([pool.end(), others.end()]);
    }
  });
});
