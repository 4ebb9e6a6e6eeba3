import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { MissingPackageError, type PostgresOptions, PostgresError, postgresArchive } from 'nestjs-gatekeeper/postgres';
import { placeOf, requirePg } from '../../../../lib/stores/postgres/pg.js';

const pool = { query: () => Promise.reject(new Error('not asked')) };

const NOT_ONE = /either connectionString or pool/;

describe('postgresArchive()', () => {
  it('fails, and leaves the process alive, where no database listens', async () => {
    const archive = postgresArchive({ connectionString: 'postgres://unknown@127.0.0.1:1/none' }).open();
    await expect(archive.load()).rejects.toThrow(/ECONNREFUSED/);
    await archive.close();
  });

  it('says why also where the error has no sentence, as that of a host with two addresses', async () => {
    const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    const archive = postgresArchive({ pool: { query: () => Promise.reject(error) } }).open();
    const told = await archive.load().catch((fault: unknown) => fault);
    expect(told).toBeInstanceOf(PostgresError);
    expect(told).toMatchObject({ message: expect.stringMatching(/: ECONNREFUSED; check host and port/), cause: error });
  });

  it('says at once that pg is not installed', () => {
    const load = () => undefined;
    expect(() => requirePg('postgresArchive()', load)).toThrow(MissingPackageError);
    expect(() => requirePg('postgresArchive()', load)).toThrow(/npm install pg/);
    requirePg('postgresArchive()');
  });

  it.each([
    ['postgres://ann:secret@db:5433/app?sslmode=require&password=secret', 'PostgreSQL at db:5433/app, user "ann"'],
    ['postgresql://db/app', 'PostgreSQL at db/app'],
    ['postgres://ann:secret@/app?host=/run/postgresql', 'PostgreSQL at /run/postgresql/app, user "ann"'],
    ['socket:/run/postgresql?db=app', 'PostgreSQL at /run/postgresql'],
    ['/run/postgresql app', 'PostgreSQL at /run/postgresql app'],
  ])('takes %s', (connectionString, place) => {
    expect(() => postgresArchive({ connectionString })).not.toThrow();
    expect(placeOf(connectionString)).toBe(place);
  });

  it.each([
    'postgres://ann:sec#ret@db/app',
    'postgres://ann:sec%ret@db/app',
    'host=db password=secret',
    'mysql://ann:secret@db/app',
    'postgres',
  ])('refuses the address %s, and does not show it', (connectionString) => {
    expect(() => postgresArchive({ connectionString })).toThrow(/connectionString: /);
    expect(() => postgresArchive({ connectionString })).not.toThrow(/sec|ann/);
  });

  it.each<[PostgresOptions, RegExp]>([
    [{}, NOT_ONE],
    [{ pool, connectionString: 'postgres://x' }, NOT_ONE],
    [{ pool: {} as never }, /pool: is no pool/],
    [{ pool, table: 'a"; DROP TABLE x' }, /table: .*no table's name/],
    [{ pool, tabel: 'x' } as never, /tabel/],
  ])('refuses %j', (options, fault) => {
    expect(() => postgresArchive(options)).toThrow(InvalidOptionsError);
    expect(() => postgresArchive(options)).toThrow(fault);
  });
});
