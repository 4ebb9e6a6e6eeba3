import { postgresHistoryArchive } from 'nestjs-gatekeeper/postgres';
import { describeUnless } from '../../../test/support/unless.js';
import { until } from '../../../test/support/apps.js';
import { type Pool, PostgresServer, lackOfPostgres } from '../../support/postgres-server.js';
import { DAY, NOON, archivedRun, numbered } from '../../../test/operate/activity/archive/archived-run.js';

describeUnless(lackOfPostgres)('postgresHistoryArchive() on a real server', () => {
  let server: PostgresServer;
  let admin: Pool;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  beforeEach(async () => {
    admin = await server.pool();
    await admin.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  });
  afterEach(() => admin.end());
  afterAll(() => server?.[Symbol.asyncDispose]());

  const open = (instance: string) =>
    postgresHistoryArchive({ connectionString: server.address(), keep: '1d' }).open({
      group: 'default',
      acquirer: instance,
      instance,
    });
  const count = async () => (await admin.query('SELECT count(*)::integer AS count FROM gatekeeper_runs')).rows[0].count;

  it('gets the runs of two nodes that begin at the same time, and closes its connections', async () => {
    const [one, other] = [open('cafe'), open('beef')];
    await Promise.all([one.append(numbered(500)), other.append([archivedRun(0, { id: 'beef-0' })])]);
    expect(await count()).toBe(501);
    await Promise.all([one.close(), other.close()]);
    // The server learns of a closed connection a moment later than its client.
    await until(async () => {
      const { rows } = await admin.query(
        'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
      return rows.length === 0;
    });
  });

  it('removes old rows without a wait for one that another node removes', async () => {
    const [one, other] = [open('cafe'), open('beef')];
    await one.append(numbered(500));
    const holder = await admin.connect();
    await holder.query('BEGIN');
    await holder.query(`SELECT 1 FROM gatekeeper_runs WHERE id = 'cafe-7' FOR UPDATE`);
    expect(await other.removeOld!(NOON + 2 * DAY)).toBe(false);
    expect(await count()).toBe(1);
    await holder.query('COMMIT');
    holder.release();
    await other.removeOld!(NOON + 2 * DAY);
    expect(await count()).toBe(0);
    await Promise.all([one.close(), other.close()]);
  });
});
