import { CorruptArchiveError, NewerArchiveError, RefusedDefinitionsError } from 'nestjs-gatekeeper';
import { PostgresError, postgresArchive } from 'nestjs-gatekeeper/postgres';
import { describeArchiveContract } from '../../../test/operate/definitions/archive/archive.contract.js';
import { archived, names } from '../../../test/operate/definitions/archive/archived.js';
import { PostgresDatabase } from './postgres-database.js';
import { describeOnPostgres } from './postgres-server.js';

const database = new PostgresDatabase();
const asked: string[] = [];
const pool = {
  query: (text: string, values?: unknown[]) => {
    asked.push(text);
    return database.query(text, values);
  },
};

describeOnPostgres('the table of postgresArchive()', () => {
  beforeAll(database.start);
  beforeEach(database.empty);
  afterAll(database.stop);

  describeArchiveContract('postgresArchive({ pool })', async () => ({ open: () => postgresArchive({ pool }).open() }));

  const rows = async () => (await database.query('SELECT * FROM gatekeeper_definitions ORDER BY name')).rows;

  it('asks nothing where nothing is new', async () => {
    const archive = postgresArchive({ pool }).open();
    await archive.save([archived('a')]);
    asked.length = 0;
    await archive.save([archived('a')]);
    expect(asked).toEqual([]);
  });

  it('takes a table that it did not make, in a schema of its own', async () => {
    await database.exec('CREATE SCHEMA "Ops"');
    const persistence = postgresArchive({ pool, table: 'Ops.kept' });
    await persistence.open().save([archived('a')]);
    asked.length = 0;
    expect(names(await persistence.open().load())).toEqual(['a']);
    expect(asked.join()).not.toContain('CREATE');
  });

  it('is made once by two that begin at the same time', async () => {
    const [one, other] = [postgresArchive({ pool }).open(), postgresArchive({ pool }).open()];
    await Promise.all([one.save([archived('a')]), other.save([archived('b')])]);
    expect(await rows()).toHaveLength(2);
  });

  it('puts a row aside that it can not read, says so, and gives the others', async () => {
    const archive = postgresArchive({ pool }).open();
    await archive.save([archived('a'), archived('b')]);
    await database.exec(`UPDATE gatekeeper_definitions SET body = '{"name": "a"}' WHERE name = 'a'`);
    const error = (await archive.load().catch((fault: Error) => fault)) as Error;
    expect(error).toBeInstanceOf(CorruptArchiveError);
    expect(error.message).toMatch(/"a".*revision/);
    expect(names(await archive.load())).toEqual(['b']);
    await archive.save([archived('a')]);
    expect(await rows()).toMatchObject([{ name: 'a' }, { name: 'a' }, { name: 'b' }]);
    expect(names(await archive.load()).toSorted()).toEqual(['a', 'b']);
  });

  it('leaves a row alone that was repaired since it was read', async () => {
    await postgresArchive({ pool })
      .open()
      .save([archived('a')]);
    await database.exec(`UPDATE gatekeeper_definitions SET body = '{"name": "a"}'`);
    const repairing = {
      query: async (text: string, values?: unknown[]) => {
        if (text.startsWith('UPDATE')) {
          await database.query('UPDATE gatekeeper_definitions SET body = $1', [JSON.stringify(archived('a'))]);
        }
        return database.query(text, values);
      },
    };
    const archive = postgresArchive({ pool: repairing }).open();
    await expect(archive.load()).rejects.toThrow(CorruptArchiveError);
    expect(names(await archive.load())).toEqual(['a']);
    expect(await rows()).toHaveLength(1);
  });

  it('neither reads nor touches what a newer version wrote', async () => {
    await postgresArchive({ pool })
      .open()
      .save([archived('a')]);
    await database.exec('UPDATE gatekeeper_definitions SET version = 2');
    const archive = postgresArchive({ pool }).open();
    await expect(archive.load()).rejects.toThrow(NewerArchiveError);
    await expect(archive.save([archived('a', 9)])).rejects.toThrow(NewerArchiveError);
    expect(await rows()).toMatchObject([{ revision: '2', version: 2 }]);
  });

  it('fails while the database is away, and comes through when it is back', async () => {
    let isAway = true;
    const failing = {
      query: (text: string, values?: unknown[]) =>
        isAway ? Promise.reject(new Error('away')) : pool.query(text, values),
    };
    const archive = postgresArchive({ pool: failing }).open();
    await expect(archive.load()).rejects.toThrow('away');
    await expect(archive.save([archived('a')])).rejects.toThrow('away');
    isAway = false;
    expect(await archive.load()).toEqual([]);
    isAway = true;
    await expect(archive.save([archived('a')])).rejects.toThrow('away');
    isAway = false;
    await archive.save([archived('a')]);
    expect(names(await archive.load())).toEqual(['a']);
  });

  describe('saves every row but the one that the database refuses', () => {
    const withReason = (reason: string, revision = 2) =>
      archived('hostile', revision, { change: { id: `${revision}`, kind: 'edit', by: 'ann', at: 1, reason } });
    const withPattern = (groupPattern: string) =>
      archived('hostile', 2, { definition: { ...archived('hostile').definition!, groupPattern } });
    const others = ['a', 'b', 'c', 'd', 'e'].map((name) => archived(name));
    const keptNames = async () => (await rows()).map((row) => (row as { name: string }).name);

    it.each([
      ['NUL in a reason', withReason('a\u0000b')],
      ['half a character in a pattern', withPattern('a\ud800')],
      ['NUL in a name', archived('hosti\u0000le')],
    ])('and names it (%s)', async (_, refused) => {
      const archive = postgresArchive({ pool }).open();
      const error = await archive.save([...others.slice(0, 3), refused, ...others.slice(3)]).catch((fault) => fault);
      expect(error).toBeInstanceOf(RefusedDefinitionsError);
      expect(error).toMatchObject({ code: 'refused-definitions', names: [refused.name] });
      expect(error.message).toMatch(/^1 definition is not archived: "hosti\S+ \(.+\)/);
      expect(error.message).not.toMatch(/\p{Cc}/u);
      expect(await keptNames()).toEqual(['a', 'b', 'c', 'd', 'e']);
    });

    it('says so at each save, and asks nothing more, until it has changed', async () => {
      const archive = postgresArchive({ pool }).open();
      await expect(archive.save([withReason('\u0000'), ...others])).rejects.toThrow(RefusedDefinitionsError);
      asked.length = 0;
      await expect(archive.save([withReason('\u0000'), ...others])).rejects.toThrow('"hostile"');
      expect(asked).toEqual([]);
      await archive.save([withReason('fine', 3), ...others]);
      await archive.save([withReason('fine', 3), ...others]);
      expect(await keptNames()).toEqual(['a', 'b', 'c', 'd', 'e', 'hostile']);
    });

    it('with few statements, also among a thousand', async () => {
      const archive = postgresArchive({ pool }).open();
      const many = Array.from({ length: 1000 }, (_, index) => archived(`job-${index}`));
      await expect(archive.save([...many, withReason('\u0000')])).rejects.toThrow(RefusedDefinitionsError);
      expect(await rows()).toHaveLength(1000);
      expect(asked.length).toBeLessThan(40);
    });

    it('but does not try row by row what fails for another reason', async () => {
      const archive = postgresArchive({ pool }).open();
      await archive.save([archived('a')]);
      await database.exec('ALTER TABLE gatekeeper_definitions RENAME body TO text');
      asked.length = 0;
      await expect(archive.save(others)).rejects.toThrow(PostgresError);
      expect(asked).toHaveLength(1);
    });
  });

  it('makes its table again when it was dropped, and writes all', async () => {
    const archive = postgresArchive({ pool }).open();
    await archive.save([archived('a')]);
    await database.exec('DROP TABLE gatekeeper_definitions');
    const both = [archived('a'), archived('b')];
    await expect(archive.save(both)).rejects.toThrow(/the table was dropped: it is created again/);
    await archive.save(both);
    expect(await rows()).toHaveLength(2);
  });
});
