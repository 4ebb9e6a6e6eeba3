import { readFile } from 'node:fs/promises';
import { type PostgresHistoryOptions, PostgresError, postgresHistoryArchive } from 'nestjs-gatekeeper/postgres';
import { START } from '../../../test/support/fake-time.js';
import { useCluster } from '../../../test/support/nodes.js';
import { PostgresDatabase } from './postgres-database.js';
import { describeOnPostgres } from './postgres-server.js';
import { DAY, NOON, archivedRun, numbered } from '../../../test/operate/activity/archive/archived-run.js';
import { awaitedArchive } from '../../../test/operate/activity/archive/awaited-archive.js';

const database = new PostgresDatabase();
const asked: string[] = [];
const pool = {
  query: (text: string, values?: unknown[]) => {
    asked.push(text);
    return database.query(text, values);
  },
};

const open = (options: Partial<PostgresHistoryOptions> = {}) =>
  postgresHistoryArchive({ pool, ...options }).open({ group: 'default', acquirer: 'app1', instance: 'cafe' });
const rows = async (table = 'gatekeeper_runs') =>
  (await database.query(`SELECT * FROM ${table} ORDER BY ended_at, id`)).rows;
const count = async () => (await rows()).length;

describeOnPostgres('the table of postgresHistoryArchive()', () => {
  beforeAll(database.start);
  beforeEach(async () => {
    await database.empty();
    asked.length = 0;
  });
  afterAll(database.stop);

  it('makes a row of each run, with one statement for a batch', async () => {
    const archive = open();
    await archive.append([archivedRun(0, { at: NOON - 1 })]);
    asked.length = 0;
    const runs = numbered(500, { took: 1500, outcome: 'failed', message: 'disk full', stack: 'Error: disk full' });
    await archive.append(runs.slice(1));
    expect(asked).toHaveLength(1);
    expect(await count()).toBe(500);
    const { node } = runs[1]!;
    expect((await rows())[1]).toEqual({
      ended_at: new Date(NOON + 1500),
      id: 'cafe-1',
      semaphore: 'job',
      job: 'Jobs.export',
      node: node.acquirer,
      outcome: 'failed',
      took: '1500',
      body: runs[1],
    });
  });

  it('makes no run twice when a batch comes again', async () => {
    const archive = open();
    await archive.append(numbered(2));
    await archive.append(numbered(3));
    expect((await rows()).map(({ id }) => id)).toEqual(['cafe-0', 'cafe-1', 'cafe-2']);
  });

  it('keeps a run with texts that PostgreSQL would refuse, and all others of its batch', async () => {
    const job = 'a\nb\u0000c\ud800d\\u0000e\'; DROP TABLE gatekeeper_runs; --"😀';
    await open().append([archivedRun(0), archivedRun(1, { job, message: '\udfff' }), archivedRun(2)]);
    expect(await rows()).toMatchObject([
      { id: 'cafe-0' },
      { job: job.replace('\u0000', '\ufffd').replace('\ud800', '\ufffd'), body: { message: '\ufffd' } },
      { id: 'cafe-2' },
    ]);
  });

  it('removes what ended longer ago than it keeps, a thousand rows at a time', async () => {
    const archive = open({ keep: '2d' });
    await archive.append(numbered(500));
    await archive.append(numbered(1500).slice(500));
    await archive.append([archivedRun(1500), archivedRun(1501, { took: 1001 })]);
    // The runs ended a second after they began.
    const due = NOON + 1000 + 2 * DAY;
    expect(await archive.removeOld!(due)).toBe(false);
    expect(await count()).toBe(1502);
    expect(await archive.removeOld!(due + 1)).toBe(true);
    expect(await count()).toBe(502);
    expect(await archive.removeOld!(due + 1)).toBe(false);
    expect((await rows()).map(({ id }) => id)).toEqual(['cafe-1501']);
  });

  it('keeps 90 days by default', async () => {
    const archive = open();
    await archive.append([archivedRun(0)]);
    await archive.removeOld!(NOON + 90 * DAY);
    expect(await count()).toBe(1);
    await archive.removeOld!(NOON + 90 * DAY + 1001);
    expect(await count()).toBe(0);
  });

  it('takes a table that it did not make, in a schema of its own', async () => {
    await database.exec('CREATE SCHEMA "Ops"');
    await open({ table: 'Ops.runs' }).append([archivedRun(0)]);
    asked.length = 0;
    await open({ table: 'Ops.runs' }).append([archivedRun(1)]);
    expect(await rows('"Ops".runs')).toHaveLength(2);
    expect(asked.join()).not.toContain('CREATE');
  });

  it('makes its table again when it was dropped', async () => {
    const archive = open();
    await archive.append([archivedRun(0)]);
    await database.exec('DROP TABLE gatekeeper_runs');
    await expect(archive.append([archivedRun(1)])).rejects.toMatchObject({ cause: { code: '42P01' } });
    await archive.append([archivedRun(1)]);
    expect(await count()).toBe(1);
  });

  it('says what to do where its user lacks a right', async () => {
    await database.exec('CREATE ROLE app; GRANT USAGE ON SCHEMA public TO app');
    try {
      await open().append([archivedRun(0)]);
      await database.exec('SET ROLE app');
      const error = await open()
        .append([archivedRun(1)])
        .catch((fault: unknown) => fault);
      expect(error).toBeInstanceOf(PostgresError);
      expect((error as Error).message).toMatch(/docs\/operations.md and grant SELECT, INSERT, UPDATE, DELETE$/);
      await database.exec('RESET ROLE; GRANT SELECT, INSERT, UPDATE, DELETE ON gatekeeper_runs TO app; SET ROLE app');
      await open().append([archivedRun(1)]);
      expect(await open().removeOld!(NOON + 91 * DAY)).toBe(false);
      expect(await count()).toBe(0);
    } finally {
      await database.exec('RESET ROLE; DROP OWNED BY app; DROP ROLE app');
    }
  });

  it('is as the documentation shows it, and its examples find the failed runs and how long runs take', async () => {
    const [table, failed, months] = await documentedSql();
    await open().append([archivedRun(0)]);
    const made = await columns();
    await database.exec(`DROP TABLE gatekeeper_runs; ${table}`);
    expect(await columns()).toEqual(made);
    expect(made).toHaveLength(8);
    const now = Date.now();
    await open().append([
      archivedRun(0, { at: now - 40 * DAY, outcome: 'failed', message: 'too old' }),
      archivedRun(1, { at: now - DAY, outcome: 'failed', message: 'disk full' }),
      archivedRun(2, { at: now - 5000, took: 3000 }),
    ]);
    expect((await database.query(failed!)).rows).toMatchObject([{ node: 'app1', took: '1000', message: 'disk full' }]);
    const sums = (await database.query(months!)).rows;
    expect(sums.reduce((sum, { runs }) => sum + Number(runs), 0)).toBe(3);
    expect(sums.reduce((sum, row) => sum + Number(row.failed), 0)).toBe(2);
    expect(sums.at(-1)).toMatchObject({ job: 'Jobs.export' });
  });

  describe('of a node', () => {
    const cluster = useCluster();

    it('has a fault while the database is away, and then archives all runs', async () => {
      let isAway = true;
      const failing = {
        query: (text: string, values?: unknown[]) =>
          isAway ? Promise.reject(new Error('away')) : pool.query(text, values),
      };
      const nodes = cluster();
      const { archive, hasWritten } = awaitedArchive(postgresHistoryArchive({ pool: failing }));
      const { gatekeeper } = await nodes.node({ history: { archive } });
      const faults = () => gatekeeper.health().faults.filter(({ code }) => code === 'run-archive-failing');
      await gatekeeper.run('job', () => undefined, { job: 'Jobs.export' });
      await nodes.time.advance(1000);
      expect(faults()).toMatchObject([{ sentence: expect.stringMatching(/pool: away$/), since: START + 1000 }]);
      isAway = false;
      await hasWritten(nodes, 1, 1000);
      expect(faults()).toEqual([]);
      expect(await rows()).toMatchObject([{ semaphore: 'job', job: 'Jobs.export', node: 'app1', outcome: 'ok' }]);
    });
  });
});

async function columns(): Promise<unknown[]> {
  const { rows: found } = await database.query(
    `SELECT column_name, data_type, is_nullable FROM information_schema.columns
     WHERE table_name = 'gatekeeper_runs' ORDER BY ordinal_position`,
  );
  const { rows: keys } = await database.query(
    `SELECT indexdef FROM pg_indexes WHERE tablename = 'gatekeeper_runs' ORDER BY indexdef`,
  );
  return found.map((column) => ({ ...(column as object), keys }));
}

/** The blocks of SQL about this table. */
async function documentedSql(): Promise<string[]> {
  const page = await readFile(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  return [...page.matchAll(/^```sql\n([\s\S]*?)^```$/gm)]
    .map(([, sql]) => sql!)
    .filter((sql) => sql.includes('gatekeeper_runs'));
}
