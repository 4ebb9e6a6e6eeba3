import { InvalidOptionsError } from 'nestjs-gatekeeper';
import { type PostgresStoreOptions, postgres } from 'nestjs-gatekeeper/postgres';

/** In a variable: it comes without types. */
const PG: string = 'pg';
const { Client } = ((await import(PG)) as { default: { Client: new () => object } }).default;

const connectionString = 'postgres://ann:pw-never-shown@db/app';
const query = async () => ({ rows: [] });
const pool = { query, connect: async () => Promise.reject(new Error('not used')) };

function faultOf(options: unknown): string {
  try {
    postgres(options as PostgresStoreOptions);
  } catch (error) {
    if (error instanceof InvalidOptionsError) return error.message;
    throw error;
  }
  throw new Error('there was no fault');
}

const NOT_ONE = /give either connectionString or pool/;
const ONE_CONNECTION = /pool: it is a single connection .*new Pool\(\)/;

describe("postgres()'s options", () => {
  it.each<[string, unknown, RegExp]>([
    ['nothing', {}, NOT_ONE],
    ['both', { connectionString, pool }, NOT_ONE],
    ['a misspelt option', { connectionString, shema: 'x' }, /shema: /],
    ['no address', { connectionString: 'db.example.com' }, /connectionString: is no address like/],
    ['an empty address', { connectionString: '' }, /connectionString: is empty/],
    ['no pool', { pool: {} }, /pool: .* is not a pool: pass the result of new Pool\(\)/],
    ['a pool that lends no connections', { pool: { query } }, /no method connect.*notifications: false/],
    ['a pool of one connection', { pool: { ...pool, options: { max: 1 } } }, /its max is 1.*raise max/],
    ['a single client', { pool: new Client() }, ONE_CONNECTION],
    ['a single client that polls', { pool: new Client(), notifications: false }, ONE_CONNECTION],
    ['a limit beside a pool', { pool, maxConnections: 5 }, /maxConnections: the pool has its own limit/],
    ['a schema that needs quotes', { pool, schema: 'My schema' }, /schema: "My schema" is not a schema's name/],
    ['a wrong limit', { connectionString, maxConnections: 0 }, /maxConnections: 0 is not a whole number from 1 to 100/],
    ['a wrong interval', { pool, pollInterval: 1 }, /pollInterval: 1 ms is not between 50 ms and 1 minute/],
    ['an interval in months', { pool, pollInterval: 'P1M' }, /pollInterval: "P1M"/],
    ['a wrong flag', { pool, notifications: 'no' }, /notifications: "no" is not true or false/],
  ])('refuse %s with advice', (_what, options, sentence) => {
    expect(faultOf(options)).toMatch(sentence);
  });

  it('list every fault at once', () => {
    expect(faultOf({ connectionString, schema: 5, createTables: 'x' })).toMatch(/schema: 5.*createTables: "x"/s);
  });

  it('never show the address, which may have a password', () => {
    for (const wrong of ['pw-never-shown@db', 'postgres://ann:pw-never-shown#@db', ['pw-never-shown']]) {
      expect(faultOf({ connectionString: wrong })).not.toContain('pw-never-shown');
    }
  });

  it('need no connection method when nodes poll', () => {
    expect(postgres({ pool: { query }, notifications: false }).kind).toBe('postgres');
  });
});
