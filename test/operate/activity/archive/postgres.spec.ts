import { InvalidOptionsError } from 'nestjs-gatekeeper';
import {
  MissingPackageError,
  PostgresError,
  type PostgresHistoryOptions,
  postgresHistoryArchive,
} from 'nestjs-gatekeeper/postgres';
import { placeOf, requirePg } from '../../../../lib/stores/postgres/pg.js';
import { archivedRun } from './archived-run.js';

const pool = { query: () => Promise.reject(new Error('not asked')) };
const NODE = { group: 'default', acquirer: 'app1', instance: 'cafe' };

const NOT_ONE = /either connectionString or pool/;

describe('postgresHistoryArchive()', () => {
  it('fails, and leaves the process alive, where no database listens', async () => {
    const archive = postgresHistoryArchive({ connectionString: 'postgres://unknown@127.0.0.1:1/none' }).open(NODE);
    await expect(archive.append([archivedRun(0)])).rejects.toThrow(/ECONNREFUSED/);
    await archive.close();
  });

  it('says why also where the error has no sentence, as that of a host with two addresses', async () => {
    const error = Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' });
    const archive = postgresHistoryArchive({ pool: { query: () => Promise.reject(error) } }).open(NODE);
    const told = await archive.append([archivedRun(0)]).catch((fault: unknown) => fault);
    expect(told).toBeInstanceOf(PostgresError);
    expect(told).toMatchObject({ message: expect.stringMatching(/: ECONNREFUSED; check host and port/), cause: error });
  });

  it('says at once that pg is not installed', () => {
    const load = () => undefined;
    expect(() => requirePg('postgresHistoryArchive()', load)).toThrow(MissingPackageError);
    expect(() => requirePg('postgresHistoryArchive()', load)).toThrow(/npm install pg/);
    requirePg('postgresHistoryArchive()');
  });

  it.each([
    ['postgres://ann:secret@db:5433/app?sslmode=require&password=secret', 'PostgreSQL at db:5433/app, user "ann"'],
    ['postgresql://db/app', 'PostgreSQL at db/app'],
    ['postgres://ann:secret@/app?host=/run/postgresql', 'PostgreSQL at /run/postgresql/app, user "ann"'],
    ['socket:/run/postgresql?db=app', 'PostgreSQL at /run/postgresql'],
    ['/run/postgresql app', 'PostgreSQL at /run/postgresql app'],
  ])('takes %s', (connectionString, place) => {
    expect(() => postgresHistoryArchive({ connectionString })).not.toThrow();
    expect(placeOf(connectionString)).toBe(place);
  });

  it.each([
    'postgres://ann:sec#ret@db/app',
    'postgres://ann:sec%ret@db/app',
    'host=db password=secret',
    'mysql://ann:secret@db/app',
    'postgres',
  ])('refuses the address %s, and does not show it', (connectionString) => {
    expect(() => postgresHistoryArchive({ connectionString })).toThrow(/connectionString: /);
    expect(() => postgresHistoryArchive({ connectionString })).not.toThrow(/sec|ann/);
  });

  it.each<[PostgresHistoryOptions, RegExp]>([
    [{}, NOT_ONE],
    [{ pool, connectionString: 'postgres://x' }, NOT_ONE],
    [{ pool: {} as never }, /pool: is no pool/],
    [{ pool, table: 'a"; DROP TABLE x' }, /table: .*no table's name/],
    [{ pool, tabel: 'x' } as never, /tabel/],
    [{ pool, keep: 'for ever' }, /keep: "for ever"/],
    [{ pool, maxBytes: 1 } as never, /maxBytes: /],
  ])('refuses %j', (options, fault) => {
    expect(() => postgresHistoryArchive(options)).toThrow(InvalidOptionsError);
    expect(() => postgresHistoryArchive(options)).toThrow(fault);
  });
});
