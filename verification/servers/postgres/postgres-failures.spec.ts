import { StoreUnavailableError, UnknownOutcomeError } from '../../../lib/core/store/store.errors.js';
import { PostgresUnusableError, type PostgresStoreOptions, postgres } from '../../../lib/stores/postgres/index.js';
import { tableNames, tablesOf } from '../../../lib/stores/postgres/tables.js';
import { closing } from '../../../test/contract/closing.js';
import { eventually } from '../../../test/contract/eventually.js';
import { type Pool, PostgresServer, describeOnPostgres } from '../archives/postgres-server.js';

/** ms, where nothing is waited for until it has passed. */
const CALL_TIMEOUT = 10_000;

describeOnPostgres('postgres() in trouble', () => {
  let server: PostgresServer;
  let admin: Pool;
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  beforeEach(async () => {
    admin = await server.pool();
    await admin.query('DROP SCHEMA IF EXISTS gatekeeper CASCADE');
  });
  afterEach(() => admin.end());
  afterAll(() => server?.[Symbol.asyncDispose]());

  const opened = (options: Partial<PostgresStoreOptions> = {}, callTimeout = CALL_TIMEOUT) =>
    closing(postgres({ connectionString: server.address(), ...options } as PostgresStoreOptions).open({ callTimeout }));
  const connected = async (...wanted: Parameters<typeof opened>) => {
    const store = opened(...wanted);
    await eventually('the store is connected', () => store.health().connected);
    return store;
  };
  /** Lets each change of a record take a minute, until {@link unslowed}. */
  const slowed = () =>
    admin.query(`CREATE FUNCTION gatekeeper.slow() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;
      CREATE TRIGGER slow BEFORE UPDATE ON gatekeeper.records FOR EACH ROW EXECUTE FUNCTION gatekeeper.slow()`);
  const unslowed = () => admin.query('DROP TRIGGER slow ON gatekeeper.records');

  it('boots without a server, says why, and connects when there is one', async () => {
    await server.stop();
    await using store = opened();
    await expect(store.records.read('key')).rejects.toThrow(StoreUnavailableError);
    expect(store.health()).toMatchObject({
      connected: false,
      members: 0,
      problem: expect.stringContaining('ECONNREFUSED'),
    });
    expect(JSON.stringify(store.health())).not.toContain(PostgresServer.password);
    await server.restart();
    await eventually('it is connected', () => store.health().connected);
    expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
    expect(store.health()).toEqual({ connected: true, members: 1, quorum: 1 });
  });

  it('refuses a write surely when the connection is refused', async () => {
    await using store = await connected();
    await store.records.compareAndSet('key', undefined, 'text');
    await server.stop();
    await eventually('it is lost', () => !store.health().connected);
    await expect(store.records.compareAndSet('key', 'text', 'next')).rejects.toThrow(StoreUnavailableError);
    await server.restart();
    await eventually('it is connected', () => store.health().connected);
    expect(await store.records.read('key')).toBe('text');
  });

  it('does not know the outcome of a write whose connection breaks', async () => {
    await using store = await connected();
    await store.records.compareAndSet('key', undefined, 'text');
    await slowed();
    const writing = store.records.compareAndSet('key', 'text', 'next').catch((error: unknown) => error);
    const broken = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
    await eventually('the write is under way', async () => (await admin.query(broken)).rows.length > 0);
    expect(await writing).toBeInstanceOf(UnknownOutcomeError);
    await unslowed();
    expect(await store.records.read('key')).toBe('text');
    expect(await store.records.compareAndSet('key', 'text', 'next')).toBe(true);
  });

  it('gives up a write that takes too long, and the server drops it', async () => {
    await using store = await connected();
    await using hasty = await connected({}, 300);
    await store.records.compareAndSet('key', undefined, 'text');
    await slowed();
    const error = await hasty.records.compareAndSet('key', 'text', 'next').catch((fault: unknown) => fault);
    expect([StoreUnavailableError, UnknownOutcomeError]).toContain((error as object).constructor);
    const underWay = `SELECT FROM pg_stat_activity WHERE wait_event = 'PgSleep'`;
    await eventually('nothing is under way any longer', async () => (await admin.query(underWay)).rows.length === 0);
    await unslowed();
    expect(await store.records.read('key')).toBe('text');
  });

  it('tries a write again that another transaction made fail', async () => {
    const pool = await server.pool({ options: '-c default_transaction_isolation=serializable' });
    await using store = await connected({ connectionString: undefined, pool } as never);
    await store.records.compareAndSet('key', undefined, '0');
    const writers = ['1', '2', '3', '4'];
    for (let round = 0; round < 10; round++) {
      const before = await store.records.read('key');
      const write = (text: string) =>
        store.records.compareAndSet('key', before, `${round}.${text}`, { notify: 'none' });
      const outcomes = await Promise.all(writers.map(write));
      expect(outcomes.filter(Boolean)).toHaveLength(1);
      expect(await store.records.read('key')).toBe(`${round}.${writers[outcomes.indexOf(true)]}`);
    }
    await store.close();
    expect((await pool.query('SELECT 1 AS alive')).rows).toEqual([{ alive: 1 }]);
    await pool.end();
  });

  it('waits for the disk although the session would not', async () => {
    const pool = await server.pool({ options: '-c synchronous_commit=off' });
    await using store = await connected({ connectionString: undefined, pool } as never);
    for (let text = 0; text < 20; text++) {
      // The server's own processes write to the log, too, at any time: only what the write itself added must be on disk.
      const before = await admin.query('SELECT pg_current_wal_insert_lsn()::text AS end');
      await store.records.compareAndSet('key', text ? String(text - 1) : undefined, String(text), { notify: 'none' });
      const flushed = 'SELECT pg_current_wal_flush_lsn() > $1::pg_lsn AS flushed';
      expect((await admin.query(flushed, [(before.rows[0] as { end: string }).end])).rows).toEqual([{ flushed: true }]);
    }
    await store.close();
    await pool.end();
  });

  it('tells a restarted server from the one before', async () => {
    await using store = await connected();
    const before = await store.now();
    await server.restart();
    const after = await eventually('the clock is read', () => store.now());
    expect(after.member).not.toBe(before.member);
    expect(after.time).toBeGreaterThan(before.time);
  });

  describe('with its tables', () => {
    it('makes them once when many nodes start together', async () => {
      const stores = await Promise.all(Array.from({ length: 6 }, () => connected({ maxConnections: 2 })));
      expect(await stores[0]!.records.compareAndSet('key', undefined, 'text')).toBe(true);
      expect(await stores[5]!.records.read('key')).toBe('text');
      await Promise.all(stores.map((store) => store.close()));
    });

    it('makes them again after they were dropped', async () => {
      await using store = await connected();
      await store.records.compareAndSet('key', undefined, 'text');
      await admin.query('DROP SCHEMA gatekeeper CASCADE');
      await expect(store.records.read('key')).rejects.toThrow(/tables are missing/);
      expect(await eventually('they are there', () => store.records.compareAndSet('key', undefined, 'new'))).toBe(true);
    });

    it('says which SQL to run when it may not make them, and works once it was run', async () => {
      await using store = opened({ createTables: false });
      await expect(store.verify!()).rejects.toThrow(PostgresUnusableError);
      await expect(store.records.read('key')).rejects.toThrow(
        /has no gatekeeper\.records.*SQL of docs\/stores\.md.*createTables/,
      );
      await admin.query(`CREATE SCHEMA gatekeeper; ${tablesOf(tableNames('gatekeeper')).join(';')}`);
      await eventually('it is connected', () => store.health().connected);
    });

    it('needs only the documented rights', async () => {
      await admin.query(`DROP ROLE IF EXISTS app; CREATE ROLE app LOGIN PASSWORD 'pw-of-the-app'`);
      const connectionString = server.address({ user: 'app', password: 'pw-of-the-app' });
      await using refused = opened({ connectionString });
      await expect(refused.verify!()).rejects.toThrow(/docs\/stores\.md.*permission denied/);
      await admin.query(`CREATE SCHEMA gatekeeper; ${tablesOf(tableNames('gatekeeper')).join(';')};
        GRANT USAGE ON SCHEMA gatekeeper TO app;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA gatekeeper TO app;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA gatekeeper TO app`);
      await using store = await connected({ connectionString });
      expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
      await store.journal('runs').append(['run']);
      await store.queue('mail').offer(['hint']);
      expect(await store.tasks.compareAndSet('key', undefined, 'text')).toBe(true);
      expect((await store.now()).member).toMatch(/^postgres-\d+$/);
    });

    it('refuses those of a newer version', async () => {
      await (await connected()).close();
      await admin.query(`COMMENT ON TABLE gatekeeper.records IS 'nestjs-gatekeeper layout 99'`);
      await using store = opened();
      await expect(store.verify!()).rejects.toThrow(/newer version.*update this application/);
    });
  });
});
