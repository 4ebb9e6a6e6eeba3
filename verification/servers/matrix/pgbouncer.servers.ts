import { postgres } from '../../../lib/stores/postgres/index.js';
import type { PostgresStoreOptions } from '../../../lib/stores/postgres/postgres.options.js';
import type { RecordChange } from '../../../lib/core/store/driver.js';
import { closing } from '../../../test/contract/closing.js';
import { eventually } from '../../../test/contract/eventually.js';
import { describeNodesContract } from '../contract/nodes.contract.js';
import { describeStoreContract } from '../../../test/contract/on-jest.js';
import { PostgresServer, lackOfPostgres } from '../archives/postgres-server.js';
import { describeUnless } from '../../../test/support/unless.js';
import { PgBouncer, lackOfPgbouncer } from './pgbouncer.js';

/** A store that wants notifications waits for one notification at the start, at most for this many ms. */
const QUICK = { callTimeout: 3000 };
const lack = lackOfPgbouncer ?? lackOfPostgres;
const running: AsyncDisposable[] = [];
afterAll(async () => {
  for (const each of running.splice(0).toReversed()) await each[Symbol.asyncDispose]();
});

const kept = <T extends AsyncDisposable>(each: T): T => {
  running.push(each);
  return each;
};
let shared: Promise<PostgresServer> | undefined;
const server = () => (shared ??= PostgresServer.start().then(kept));
const bouncers = new Map<string, Promise<PgBouncer>>();
const bouncer = async (mode: 'session' | 'transaction'): Promise<PgBouncer> => {
  const database = await server();
  if (!bouncers.has(mode)) bouncers.set(mode, PgBouncer.start(database, mode).then(kept));
  return bouncers.get(mode)!;
};

const KINDS: Readonly<Record<string, { mode: 'session' | 'transaction'; options: PostgresStoreOptions }>> = {
  'in transaction mode': { mode: 'transaction', options: { notifications: false, schema: 'polled' } },
  'in transaction mode, of which the options know nothing': { mode: 'transaction', options: { schema: 'unaware' } },
  'in session mode': { mode: 'session', options: { schema: 'session' } },
};

for (const [name, { mode, options }] of Object.entries(KINDS)) {
  const store = async (more: PostgresStoreOptions = {}) =>
    postgres({
      connectionString: (await bouncer(mode)).address,
      maxConnections: 4,
      pollInterval: 50,
      ...options,
      ...more,
    });
  const prepare = async () => {
    const definition = await store();
    return { open: () => definition.open(QUICK), stop: async () => undefined, quorum: 1, isPagedByPrefix: true };
  };
  const lacks = {
    outage: 'the pooler and the server serve other tests, too',
    ...(mode === 'transaction' && {
      changeWithoutKey: 'it reads the changes from the position where it stopped, unless a look at the server failed',
    }),
  };
  const contract = { name: `postgres() behind PgBouncer ${name}`, missing: lack, prepare };
  describeStoreContract({ ...contract, lacks });
  describeNodesContract(
    `postgres() behind PgBouncer ${name}`,
    async () => ({ store: await store({ schema: `nodes_${options.schema}` }), stop: async () => undefined }),
    lack,
  );
}

describeUnless(lack)('postgres() over a pool of the application behind PgBouncer in transaction mode', () => {
  it('works without named statements once the server does not know one, and polls for changes', async () => {
    const { address } = await bouncer('transaction');
    const database = await server();
    const pools = [
      await database.pool({ connectionString: address }),
      await database.pool({ connectionString: address }),
    ];
    const open = (pool: (typeof pools)[number]) =>
      closing(postgres({ pool, schema: 'pooled', pollInterval: 50 }).open(QUICK));
    {
      await using one = open(pools[0]!);
      await using other = open(pools[1]!);
      for (const store of [one, other]) await eventually('connected', () => store.health().connected);
      const changes: RecordChange[] = [];
      await other.watch('', (change) => changes.push(change));
      const keys = Array.from({ length: 200 }, (_, index) => `key-${index}`);
      const written = await Promise.all(
        keys.map((key, index) => (index % 2 ? one : other).records.compareAndSet(key, undefined, 'text')),
      );
      expect(written.filter(Boolean)).toHaveLength(keys.length);
      const texts = await Promise.all(keys.map((key, index) => (index % 2 ? other : one).records.read(key)));
      expect(new Set(texts)).toEqual(new Set(['text']));
      await one.records.compareAndSet('edited', undefined, 'text');
      await eventually('the edit is noticed', () => changes.some(({ key }) => key === 'edited'));
    }
    for (const pool of pools) await pool.end();
  });
});
