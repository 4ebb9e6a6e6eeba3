import { type PostgresStoreOptions, postgres } from '../../../lib/stores/postgres/index.js';
import { StoreUnavailableError } from '../../../lib/core/store/store.errors.js';
import type { TextCollection } from '../../../lib/core/store/driver.js';
import { closing } from '../../../test/contract/closing.js';
import { eventually } from '../../../test/contract/eventually.js';
import { type Pool, PostgresServer, describeOnPostgres } from '../archives/postgres-server.js';

/** ms, where a test ends long before it has passed. */
const CALL_TIMEOUT = 10_000;
const KEYS = ['a', 'b', 'c', 'd', 'e'];

describeOnPostgres('texts, while a transaction of the application holds some of them', () => {
  let server: PostgresServer;
  let admin: Pool;
  const open: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  beforeEach(async () => {
    admin = await server.pool();
    await admin.query('DROP SCHEMA IF EXISTS gatekeeper CASCADE');
  });
  afterEach(async () => {
    while (open.length > 0) await open[0]!();
    await admin.end();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  async function connected(options: Partial<PostgresStoreOptions> = {}, callTimeout = CALL_TIMEOUT) {
    const address = { connectionString: server.address() };
    const store = postgres({ ...address, ...options } as PostgresStoreOptions).open({ callTimeout });
    await eventually('the store is connected', () => store.health().connected);
    return closing(store);
  }
  /** A transaction that stays open until the returned function ends it. */
  async function held(statement: string) {
    const connection = await admin.connect();
    await connection.query(`BEGIN; ${statement}`);
    const end = async (word: 'COMMIT' | 'ROLLBACK' = 'ROLLBACK') => {
      if (!open.includes(end)) return;
      open.splice(open.indexOf(end), 1);
      await connection.query(word);
      connection.release();
    };
    open.push(end);
    return end;
  }
  /** Collects the outcomes of writes as they come. */
  const outcomes = (writes: readonly Promise<unknown>[]) => {
    const ended: unknown[] = [];
    const all = writes.map((write) => write.catch((error: Error) => error.name).then((outcome) => ended.push(outcome)));
    return { ended, all: Promise.all(all) };
  };
  const create = (texts: TextCollection, key: string, text: string) => texts.compareAndSet(key, undefined, text);
  const created = (texts: TextCollection, keys: readonly string[]) =>
    Promise.all(keys.map((key) => create(texts, key, `ours ${key}`)));

  describe.each(['records', 'tasks'] as const)('%s', (collection) => {
    const inserted = (...keys: string[]) =>
      `INSERT INTO gatekeeper.${collection} VALUES ${keys.map((key) => `('${key}', 'theirs')`).join(', ')}`;

    it('delay no other text that is created at the same time', async () => {
      await using store = await connected();
      const end = await held(inserted('held'));
      const duplicate = outcomes([create(store[collection], 'held', 'ours')]);
      expect(await created(store[collection], KEYS)).toEqual(KEYS.map(() => true));
      expect(duplicate.ended).toEqual([]);
      expect(store.health().problem).toBeUndefined();
      await end('COMMIT');
      await duplicate.all;
      expect(duplicate.ended).toEqual([false]);
    });

    it('delay no other text, however often they are created, and however many they are', async () => {
      await using store = await connected();
      const many = Array.from({ length: 20 }, (_, at) => `held-${at}`);
      const end = await held(inserted(...many));
      const duplicates = [outcomes(many.map((key) => create(store[collection], key, 'first')))];
      for (const key of KEYS) {
        duplicates.push(outcomes(many.map((held) => create(store[collection], held, `beside ${key}`))));
        expect(await created(store[collection], [key])).toEqual([true]);
      }
      expect(duplicates.flatMap(({ ended }) => ended)).toEqual([]);
      await end();
      await Promise.all(duplicates.map(({ all }) => all));
      expect(duplicates[0]!.ended).toEqual(many.map(() => true));
      const later = duplicates.slice(1).flatMap(({ ended }) => ended);
      expect(new Set(later)).toEqual(new Set([false]));
      expect(await store[collection].readMany(many)).toEqual(new Map(many.map((key) => [key, 'first'])));
    });

    it('leave a store with one connection able to read and write others', async () => {
      await using store = await connected({ maxConnections: 1, notifications: false });
      const end = await held(inserted('held', 'held too'));
      const duplicates = outcomes(['held', 'held too', 'held'].map((key) => create(store[collection], key, 'ours')));
      await created(store[collection], KEYS);
      expect(await store[collection].read('a')).toBe('ours a');
      for (const texts of [store.records, store.groups]) expect(await create(texts, 'other', 'text')).toBe(true);
      expect(duplicates.ended).toEqual([]);
      await end('COMMIT');
      await duplicates.all;
      expect(duplicates.ended).toEqual([false, false, false]);
    });

    // A record is never removed.
    it.each(collection === 'tasks' ? (['replaced', 'removed'] as const) : (['replaced'] as const))(
      'delay no other text that is %s at the same time',
      async (change) => {
        await using store = await connected();
        const texts: TextCollection = store[collection];
        const changed = (key: string) => texts.compareAndSet(key, 'ours', change === 'replaced' ? 'next' : undefined);
        for (const key of ['held', ...KEYS]) await create(texts, key, 'ours');
        const end = await held(`UPDATE gatekeeper.${collection} SET text = 'theirs' WHERE key = 'held'`);
        const late = outcomes([changed('held')]);
        expect(await Promise.all(KEYS.map(changed))).toEqual(KEYS.map(() => true));
        expect(late.ended).toEqual([]);
        await end('COMMIT');
        await late.all;
        expect(late.ended).toEqual([false]);
        expect(await texts.read('held')).toBe('theirs');
      },
    );

    it('are surely not written if they are held for as long as a call may take', async () => {
      await using store = await connected({}, 2000);
      const end = await held(inserted('held'));
      const writes = ['first', 'second'].map((text) => create(store[collection], 'held', text));
      for (const error of await Promise.all(writes.map((write) => write.catch((fault: unknown) => fault)))) {
        expect(error).toBeInstanceOf(StoreUnavailableError);
        expect((error as Error).message).toMatch(/text under held.*transaction/);
      }
      await end();
      // No write is still under way that could come before this one.
      expect(await create(store[collection], 'held', 'third')).toBe(true);
      expect(await store[collection].read('held')).toBe('third');
    });

    it('leave no setting in the connections of a pool', async () => {
      const pool = await server.pool({ max: 1 });
      try {
        await using store = await connected({ pool, connectionString: undefined, notifications: false } as never);
        const end = await held(inserted('held'));
        const duplicate = outcomes([create(store[collection], 'held', 'ours')]);
        await created(store[collection], KEYS);
        expect((await pool.query('SHOW lock_timeout')).rows).toEqual([{ lock_timeout: '0' }]);
        await end();
        await duplicate.all;
      } finally {
        await pool.end();
      }
    });
  });
});
