import { DOUBT } from '../../../lib/core/decision/index.js';
import { type Driver, type RecordChange, StoreUnavailableError } from '../../../lib/core/store/index.js';
import { type PostgresStoreOptions, postgres } from '../../../lib/stores/postgres/index.js';
import { type Pool, PostgresServer, describeOnPostgres } from '../archives/postgres-server.js';
import { SwitchableProxy } from '../../../test/support/switchable-proxy.js';
import { eventually } from '../../../test/contract/eventually.js';
import { allTexts } from '../../../lib/core/store/paging.js';

const KEYS = ['semaphore:a', 'semaphore:b', 'semaphore:c'];

/** Statements of the first version, which knew no timeline. */
const OLDER = {
  table: `CREATE SCHEMA gatekeeper; CREATE TABLE gatekeeper.records (
    key text COLLATE "C" PRIMARY KEY, text text COLLATE "C" NOT NULL, noted bigint)`,
  create: 'INSERT INTO gatekeeper.records (key, text) VALUES ($1, $2) ON CONFLICT DO NOTHING RETURNING key',
  replace: 'UPDATE gatekeeper.records SET text = $3 WHERE key = $1 AND text = $2 RETURNING key',
};

describeOnPostgres('a PostgreSQL that took over, and may lack writes which were acknowledged', () => {
  let empty: PostgresServer;
  let primary: PostgresServer;
  let replica: PostgresServer;
  let proxy: SwitchableProxy;
  let admin: Pool;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    empty = await PostgresServer.start();
    await empty.stop();
  });
  afterAll(() => empty?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    primary = await PostgresServer.copyOf(empty);
    closing.push(() => primary[Symbol.asyncDispose]());
    replica = await PostgresServer.replicaOf(primary, empty);
    closing.push(() => replica[Symbol.asyncDispose]());
    proxy = await SwitchableProxy.start(primary.port);
    closing.push(() => proxy[Symbol.asyncDispose]());
    admin = await primary.pool({ connectionString: throughProxy() });
    closing.push(() => admin.end());
  });
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const throughProxy = () => primary.address().replace(`:${primary.port}/`, `:${proxy.port}/`);

  async function opened(options: PostgresStoreOptions = {}): Promise<Driver> {
    const store = postgres({ connectionString: throughProxy(), maxConnections: 2, ...options }).open();
    closing.push(() => store.close());
    await eventually('the store is connected', () => store.health().connected);
    return store;
  }

  /** The replica takes over, with the writes so far. */
  async function takeOver(): Promise<void> {
    await replica.lag(primary);
    await primary.kill();
    await replica.promote();
    proxy.switchTo(replica.port);
  }

  it.each([{}, { notifications: false, pollInterval: 50 }])(
    'takes no write that follows from an old text (%j)',
    async (options) => {
      const store = await opened(options);
      expect(await store.records.compareAndSet('semaphore:x', undefined, 'one')).toBe(true);
      await takeOver();
      expect(await eventually('it answers', () => written(store, 'one', 'two'))).toBe('refused');
      expect(await asked(() => store.records.read('semaphore:x'))).toBe(`${DOUBT}one`);
      expect(await asked(() => store.records.compareAndSet('semaphore:x', undefined, 'new'))).toBe(false);
      expect(await asked(() => store.records.compareAndSet('semaphore:x', `${DOUBT}other`, 'two'))).toBe(false);
      expect(await asked(() => store.records.compareAndSet('semaphore:x', `${DOUBT}one`, 'two'))).toBe(true);
      expect(await asked(() => store.records.compareAndSet('semaphore:x', `${DOUBT}one`, 'three'))).toBe(false);
      expect(await asked(() => store.records.compareAndSet('semaphore:x', 'two', 'three'))).toBe(true);
    },
  );

  it('doubts each record, also for a node that starts later, until it is written; new records are certain', async () => {
    const store = await opened();
    for (const key of KEYS) await store.records.compareAndSet(key, undefined, 'one');
    await takeOver();
    const later = await opened();
    const doubted = new Map(KEYS.map((key) => [key, `${DOUBT}one`]));
    expect(await asked(() => allTexts(later.records, 'semaphore:'))).toEqual(doubted);
    expect(await asked(() => later.records.readMany(KEYS))).toEqual(doubted);
    expect(await asked(() => later.records.compareAndSet('semaphore:new', undefined, 'one'))).toBe(true);
    expect(await asked(() => later.records.compareAndSet(KEYS[0]!, `${DOUBT}one`, 'two'))).toBe(true);
    expect([...(await asked(() => allTexts(later.records, 'semaphore:'))).values()]).toEqual([
      'two',
      `${DOUBT}one`,
      `${DOUBT}one`,
      'one',
    ]);
  });

  it('lets one of many writers restore a record, and none follows from the text before', async () => {
    const store = await opened({ maxConnections: 8 });
    await store.records.compareAndSet('semaphore:x', undefined, 'one');
    await takeOver();
    await asked(() => store.records.read('semaphore:x'));
    const writes = Array.from({ length: 8 }, (_, index) =>
      asked(() => store.records.compareAndSet('semaphore:x', index % 2 ? 'one' : `${DOUBT}one`, `two by ${index}`)),
    );
    const winners = (await Promise.all(writes)).flatMap((isWritten, index) => (isWritten ? [index] : []));
    expect(winners).toHaveLength(1);
    expect(winners[0]! % 2).toBe(0);
    expect(await asked(() => store.records.read('semaphore:x'))).toBe(`two by ${winners[0]}`);
  });

  it.each(['none', 'all'] as const)(
    'takes none of many writes at once that follow from old texts, and all that follow from doubted ones (notify: %s)',
    async (notify) => {
      const store = await opened();
      const writeAll = (former: string | undefined, next: string) =>
        Promise.all(KEYS.map((key) => asked(() => store.records.compareAndSet(key, former, next, { notify }))));
      expect(await writeAll(undefined, 'one')).toEqual([true, true, true]);
      await takeOver();
      await asked(() => store.records.read(KEYS[0]!));
      expect(await writeAll('one', 'two')).toEqual([false, false, false]);
      expect(await writeAll(`${DOUBT}one`, 'two')).toEqual([true, true, true]);
      expect(await writeAll('two', 'three')).toEqual([true, true, true]);
      expect(await store.records.readMany(KEYS)).toEqual(new Map(KEYS.map((key) => [key, 'three'])));
    },
  );

  it('reports a change of anything, so that nodes look at their records', async () => {
    const store = await opened();
    await store.records.compareAndSet('semaphore:x', undefined, 'one');
    const changes: RecordChange[] = [];
    await store.watch('semaphore:', (change) => void changes.push(change));
    await takeOver();
    await eventually('the change is reported', () => changes.some(({ key }) => key === undefined));
  });

  it('refuses to read from a standby, whose records may be old', async () => {
    const store = await opened();
    await store.records.compareAndSet('semaphore:x', undefined, 'one');
    proxy.switchTo(replica.port);
    const message = await eventually('it answers', async () => {
      const error = await store.records.read('semaphore:x').catch((fault: Error) => fault);
      return String(error).includes('connect to the primary') && String(error);
    });
    expect(message).toContain('StoreUnavailableError');
  });

  it('doubts nothing when the same server goes on, also after a crash', async () => {
    const store = await opened();
    await store.records.compareAndSet('semaphore:x', undefined, 'one');
    await primary.kill();
    await primary.restart();
    expect(await eventually('it answers', () => written(store, 'one', 'two'))).toBe('written');
    await primary.restart();
    expect(await eventually('it answers', () => store.records.read('semaphore:x'))).toBe('two');
  });

  it('knows rows of an older version, and of one that runs beside it', async () => {
    await admin.query(OLDER.table);
    await admin.query(OLDER.create, ['semaphore:x', 'before']);
    const store = await opened();
    expect(await store.records.read('semaphore:x')).toBe('before');
    await admin.query(OLDER.create, ['semaphore:y', 'beside']);
    expect(await store.records.compareAndSet('semaphore:y', 'beside', 'new')).toBe(true);
    expect((await admin.query(OLDER.replace, ['semaphore:y', 'new', 'newer'])).rows).toHaveLength(1);
    expect(await store.records.read('semaphore:y')).toBe('newer');

    await takeOver();
    await asked(() => store.records.read('semaphore:x'));
    await admin.query(OLDER.replace, ['semaphore:x', 'before', 'from an old text']);
    await admin.query(OLDER.create, ['semaphore:z', 'created']);
    expect([...(await asked(() => allTexts(store.records, 'semaphore:')))]).toEqual([
      ['semaphore:x', `${DOUBT}from an old text`],
      ['semaphore:y', `${DOUBT}newer`],
      ['semaphore:z', 'created'],
    ]);
  });

  it('can be declared by an operator, who put old data back on the same timeline', async () => {
    const store = await opened();
    await store.records.compareAndSet('semaphore:x', undefined, 'one');
    await admin.query('UPDATE gatekeeper.records SET origin = NULL');
    expect(await written(store, 'one', 'two')).toBe('refused');
    expect(await store.records.read('semaphore:x')).toBe(`${DOUBT}one`);
    expect(await store.records.compareAndSet('semaphore:x', `${DOUBT}one`, 'two')).toBe(true);
  });

  it('says which SQL adds the column when it may not add it', async () => {
    await (await opened()).close();
    await admin.query('ALTER TABLE gatekeeper.records DROP COLUMN origin');
    const store = postgres({ connectionString: throughProxy(), createTables: false }).open();
    closing.push(() => store.close());
    await expect(store.verify!()).rejects.toThrow(/gatekeeper\.records\.origin: .*docs\/stores\.md/);
  });

  it('can not be recognised without the right to the function: records are never doubted then', async () => {
    await admin.query(`CREATE ROLE app LOGIN PASSWORD 'pw'; REVOKE EXECUTE ON FUNCTION pg_walfile_name FROM PUBLIC;
      GRANT CREATE ON DATABASE postgres TO app`);
    const connectionString = throughProxy().replace(/\/\/.*@/, '//app:pw@');
    const store = await opened({ connectionString });
    await store.records.compareAndSet('semaphore:x', undefined, 'one');
    await takeOver();
    expect(await eventually('it answers', () => written(store, 'one', 'two'))).toBe('written');
    expect(await asked(() => allTexts(store.records, 'semaphore:'))).toEqual(new Map([['semaphore:x', 'two']]));
  });
});

/** @throws while the store can't be asked */
async function written(store: Driver, expected: string, next: string): Promise<'written' | 'refused'> {
  return (await asked(() => store.records.compareAndSet('semaphore:x', expected, next))) ? 'written' : 'refused';
}

/** Asks again while the store is not connected: a failover may break its connections more than once. */
async function asked<T>(call: () => Promise<T>): Promise<T> {
  const { answer } = await eventually('it answers', async () => {
    const asking = call();
    const isUnavailable = await asking.then(
      () => false,
      (error: unknown) => error instanceof StoreUnavailableError,
    );
    return !isUnavailable && { answer: asking };
  });
  return answer;
}
