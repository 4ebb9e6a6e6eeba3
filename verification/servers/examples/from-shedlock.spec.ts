import { once } from 'node:events';
import { underShedLock } from '../../../examples/from-shedlock/under-shedlock.js';
import { PostgresDatabase } from '../archives/postgres-database.js';
import { describeOnPostgres } from '../archives/postgres-server.js';

const now = `timezone('utc', CURRENT_TIMESTAMP)`;
const EXPORT = { name: 'export', atMostFor: 60 };

const database = new PostgresDatabase();

/** As in ShedLock's manual. */
const TABLE = `CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL,
  locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`;

/** The update with which ShedLock takes a lock by the database's time. */
async function javaTakes(by = 'java-1'): Promise<boolean> {
  const { rows } = await database.query(
    `UPDATE shedlock SET lock_until = ${now} + make_interval(secs => 60), locked_at = ${now}, locked_by = $1
     WHERE name = 'export' AND lock_until <= ${now} RETURNING name`,
    [by],
  );
  return rows.length > 0;
}

const javaHolds = () =>
  database.exec(`INSERT INTO shedlock VALUES ('export', ${now} + interval '1 minute', ${now}, 'java-1')`);
const expire = () => database.exec(`UPDATE shedlock SET lock_until = ${now} - interval '1 second'`);
const rows = async () => (await database.query('SELECT name, locked_by FROM shedlock')).rows;

describeOnPostgres('work under a lock of ShedLock', () => {
  beforeAll(async () => {
    await database.start();
    await database.exec(TABLE);
  });
  beforeEach(() => database.exec('TRUNCATE shedlock'));
  afterAll(database.stop);

  it('keeps programs with ShedLock away until it ends', async () => {
    const taken = await underShedLock(database, EXPORT, async () => javaTakes());
    expect(taken).toBe(false);
    expect(await javaTakes()).toBe(true);
  });

  it('keeps them away for at least as long as it says', async () => {
    await underShedLock(database, { ...EXPORT, atLeastFor: 30 }, async () => 'done');
    expect(await javaTakes()).toBe(false);
  });

  it('does not begin while one of them holds the lock', async () => {
    await javaHolds();
    expect(await underShedLock(database, EXPORT, async () => 'done')).toBeUndefined();
    expect(await rows()).toEqual([{ name: 'export', locked_by: 'java-1' }]);
  });

  it('begins when their lock is over, and returns its value', async () => {
    await javaHolds();
    await expire();
    expect(await underShedLock(database, EXPORT, async () => 'done')).toBe('done');
  });

  it('gives the lock back after an error', async () => {
    const fail = () => Promise.reject(new Error('no disk'));
    await expect(underShedLock(database, EXPORT, fail)).rejects.toThrow('no disk');
    expect(await javaTakes()).toBe(true);
  });

  it('does not give back a lock that another has taken meanwhile', async () => {
    await underShedLock(database, EXPORT, async () => {
      await expire();
      expect(await javaTakes('java-2')).toBe(true);
    });
    expect(await javaTakes('java-3')).toBe(false);
    expect(await rows()).toEqual([{ name: 'export', locked_by: 'java-2' }]);
  });

  it('learns in time that the lock ends', async () => {
    const held = await underShedLock(database, { ...EXPORT, atMostFor: 10 }, async (signal) => {
      await once(signal, 'abort');
      return !(await javaTakes());
    });
    expect(held).toBe(true);
  });
});
