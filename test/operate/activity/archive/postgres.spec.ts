import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { type PostgresHistoryOptions, postgresHistoryArchive } from 'nestjs-gatekeeper/postgres';

const pool = { query: () => Promise.reject(new Error('not asked')) };

describe('postgresHistoryArchive()', () => {
  it.each<[PostgresHistoryOptions, RegExp]>([
    [{}, /connectionString .*pool/],
    [{ pool, connectionString: 'postgres://x' }, /connectionString .*pool/],
    [{ pool, table: 'a"; DROP TABLE x' }, /table: .*no table's name/],
    [{ pool, keep: 'for ever' }, /keep: "for ever"/],
    [{ pool, maxBytes: 1 } as never, /maxBytes: /],
  ])('refuses %j', (options, fault) => {
    expect(() => postgresHistoryArchive(options)).toThrow(InvalidOptionsError);
    expect(() => postgresHistoryArchive(options)).toThrow(fault);
  });
});
