import { readFile } from 'node:fs/promises';
import { StaleTokenError } from '../../../examples/guarded-resource/permit-token.js';
import { type Transaction, fenced } from '../../../examples/guarded-resource/postgresql/fenced-transaction.js';
import { EARLIER, LATER, gate } from '../../../test/examples/permits.js';
import { PostgresDatabase } from '../archives/postgres-database.js';
import { describeOnPostgres } from '../archives/postgres-server.js';

const FOLDER = new URL('../../../examples/guarded-resource/postgresql/', import.meta.url);
const sql = (file: string) => readFile(new URL(file, FOLDER), 'utf8');

const database = new PostgresDatabase();

describeOnPostgres('the example for PostgreSQL', () => {
  beforeAll(async () => {
    await database.start();
    await database.exec((await sql('fence.sql')) + (await sql('fenced-row.sql')));
  });
  beforeEach(() => database.exec('TRUNCATE fence, report, page'));
  afterAll(database.stop);

  describe('rows written in a fenced transaction', () => {
    const report = (id: string, body: string) => (transaction: Transaction) =>
      transaction.query('INSERT INTO report VALUES ($1, $2) ON CONFLICT (id) DO UPDATE SET body = excluded.body', [
        id,
        body,
      ]);
    const reports = async () => (await database.query('SELECT id, body FROM report ORDER BY id')).rows;

    it('are written with a fresh token, and again with the same one', async () => {
      await fenced(database, EARLIER, report('monday', 'draft'));
      await fenced(database, EARLIER, report('monday', 'final'));

      expect(await reports()).toEqual([{ id: 'monday', body: 'final' }]);
    });

    it('are not written with a stale token, also where that permit never wrote before', async () => {
      await fenced(database, LATER, report('monday', 'new'));

      await expect(fenced(database, EARLIER, report('tuesday', 'old'))).rejects.toThrow(StaleTokenError);
      expect(await reports()).toEqual([{ id: 'monday', body: 'new' }]);
    });

    it('are not written by who was held up before its first statement', async () => {
      const { reached, pass, open } = gate();
      const late = {
        transaction: async <T>(work: (transaction: Transaction) => Promise<T>) => {
          await pass();
          return database.transaction(work);
        },
      };
      const old = fenced(late, EARLIER, report('monday', 'old'));
      await reached;
      await fenced(database, LATER, report('monday', 'new'));
      open();

      await expect(old).rejects.toThrow(StaleTokenError);
      expect(await reports()).toEqual([{ id: 'monday', body: 'new' }]);
    });

    it('let no writer come between check and write: the newer one waits and writes last', async () => {
      const { reached, pass, open } = gate();
      const order: string[] = [];
      const old = fenced(database, EARLIER, async (transaction) => {
        await pass();
        await report('monday', 'old')(transaction);
        order.push('old');
      });
      await reached;
      const young = fenced(database, LATER, async (transaction) => {
        await report('monday', 'new')(transaction);
        order.push('new');
      });
      open();
      await Promise.all([old, young]);

      expect(order).toEqual(['old', 'new']);
      expect(await reports()).toEqual([{ id: 'monday', body: 'new' }]);
    });

    it('forget a token whose transaction failed', async () => {
      await expect(fenced(database, LATER, () => Promise.reject(new Error('disk full')))).rejects.toThrow('disk full');
      await fenced(database, EARLIER, report('monday', 'old'));

      expect(await reports()).toEqual([{ id: 'monday', body: 'old' }]);
    });

    it('ask nothing of the tokens of other slots and semaphores', async () => {
      await fenced(database, { ...LATER, slot: 1 }, report('slot-1', 'new'));
      await fenced(database, { ...LATER, semaphore: 'mailing' }, report('mailing', 'new'));
      await fenced(database, EARLIER, report('slot-0', 'old'));

      expect(await reports()).toHaveLength(3);
    });
  });

  describe('a row that carries its fence', () => {
    const write = async (id: string, body: string, token: number) =>
      (await database.query(await sql('write-page.sql'), [id, body, token])).rows.length === 1;
    const bodyOf = async (id: string) =>
      (await database.query('SELECT body FROM page WHERE id = $1', [id])).rows[0]?.body;

    it('is written with a fresh and with an equal token, not with a stale one', async () => {
      expect(await write('monday', 'draft', EARLIER.token)).toBe(true);
      expect(await write('monday', 'final', EARLIER.token)).toBe(true);
      expect(await write('monday', 'new', LATER.token)).toBe(true);
      expect(await write('monday', 'old', EARLIER.token)).toBe(false);
      expect(await bodyOf('monday')).toBe('new');
    });

    it('checks as it writes: a look beforehand is worth nothing once another has written', async () => {
      await write('monday', 'draft', EARLIER.token);
      const { rows } = await database.query('SELECT 1 FROM page WHERE id = $1 AND fence <= $2', [
        'monday',
        EARLIER.token,
      ]);
      expect(rows).toHaveLength(1);
      await write('monday', 'new', LATER.token);

      expect(await write('monday', 'old', EARLIER.token)).toBe(false);
      expect(await bodyOf('monday')).toBe('new');
    });
  });
});
