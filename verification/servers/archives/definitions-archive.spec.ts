import { readFile } from 'node:fs/promises';
import {
  Gatekeeper,
  type GatekeeperEvent,
  type GatekeeperOptions,
  type StoreDefinition,
  memory,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { postgresArchive } from 'nestjs-gatekeeper/postgres';
import { eventually } from '../../../test/contract/eventually.js';
import { describeArchiveContract } from '../../../test/operate/definitions/archive/archive.contract.js';
import { archived, names } from '../../../test/operate/definitions/archive/archived.js';
import { removed } from '../../../test/support/removed.js';
import { type Pool, PostgresServer, describeOnPostgres } from './postgres-server.js';

const BY_ANN = { by: 'ann', reason: 'the night of the move' };
const CODE = ['edited', 'paused', 'removed', 'untouched'].map((name) => ({ name, duration: '10s' }));

describeOnPostgres('postgresArchive() on a real server', () => {
  let server: PostgresServer;
  let admin: Pool;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  beforeEach(async () => {
    admin = await server.pool();
    await admin.query('DROP SCHEMA public CASCADE; CREATE SCHEMA public');
  });
  afterEach(() => admin.end());
  afterAll(() => server?.[Symbol.asyncDispose]());

  const archive = (connectionString = server.address()) => postgresArchive({ connectionString }).open();
  const rows = async () => (await admin.query('SELECT * FROM gatekeeper_definitions ORDER BY name')).rows;

  describeArchiveContract('postgresArchive({ connectionString })', async () => ({ open: () => archive() }));

  describe('an archive', () => {
    it('makes its table, as the documentation shows it', async () => {
      const one = archive();
      await one.save([archived('a')]);
      await one.close();
      const made = await columns();
      await admin.query(`DROP TABLE gatekeeper_definitions; ${await documentedTable()}`);
      expect(await columns()).toEqual(made);
      expect(made).toHaveLength(6);
    });

    it('needs rights only to the table, when another user created it', async () => {
      await admin.query(await documentedTable());
      await admin.query(`
        DROP ROLE IF EXISTS app;
        CREATE ROLE app LOGIN PASSWORD 'pw-of-the-app';
        GRANT USAGE ON SCHEMA public TO app;
        GRANT SELECT, INSERT, UPDATE ON gatekeeper_definitions TO app`);
      const connectionString = server.address({ user: 'app', password: 'pw-of-the-app' });
      const one = archive(connectionString);
      await one.save([archived('a')]);
      await one.save([archived('a', 3)]);
      expect(names(await one.load())).toEqual(['a']);
      await one.close();

      await admin.query('DROP TABLE gatekeeper_definitions');
      const other = archive(connectionString);
      await expect(other.save([archived('a')])).rejects.toThrow(/permission denied for schema public.*CREATE TABLE/s);
      await other.close();
    });

    it('shares its table: many rows that two save at once, in opposite orders, make no deadlock', async () => {
      const [one, other] = [archive(), archive()];
      const all = (revision: number) => Array.from({ length: 1000 }, (_, index) => archived(`job-${index}`, revision));
      await one.save(all(1));
      for (let revision = 2; revision < 12; revision++)
        await Promise.all([one.save(all(revision)), other.save(all(revision).toReversed())]);
      expect(await rows()).toHaveLength(1000);
      await Promise.all([one.close(), other.close()]);
    });

    it('gives up on a locked table, and saves when it is free', async () => {
      const one = archive();
      await one.save([archived('a')]);
      const locker = await admin.connect();
      await locker.query('BEGIN; LOCK TABLE gatekeeper_definitions');
      await expect(one.save([archived('a', 3)])).rejects.toThrow(/timeout/);
      await locker.query('COMMIT');
      locker.release();
      await one.save([archived('a', 3)]);
      expect(await rows()).toMatchObject([{ revision: '3' }]);
      await one.close();
    });

    it.each<[string, Partial<Record<'user' | 'password' | 'host' | 'database', string>>, RegExp]>([
      ['a wrong password', { password: 'pw-that-is-wrong' }, /authentication failed for user "ops".*user and password/],
      ['a user that is not there', { user: 'bob' }, /authentication failed for user "bob".*user and password/],
      [
        'a database that is not there',
        { database: 'nowhere' },
        /"nowhere" does not exist.*database in connectionString/,
      ],
      ['a host that is not there', { host: 'nowhere.invalid' }, /nowhere\.invalid.*host and port in connectionString/],
      ['no password', { password: '' }, /no password.*connectionString/i],
    ])('says what is wrong, given %s, and never the password', async (_what, wrong, sentence) => {
      const one = archive(server.address(wrong));
      const error = (await one.load().catch((fault: unknown) => fault)) as Error;
      expect(error.message).toMatch(sentence);
      expect(error.message).toContain(`${wrong.host ?? '127.0.0.1'}:${server.port}`);
      const told = `${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
      expect(told).not.toMatch(/pw-never-shown|pw-that-is-wrong/);
      await one.close();
    });

    const columns = async () => {
      const { rows: found } = await admin.query(
        `SELECT column_name, data_type, is_nullable, column_default FROM information_schema.columns
         WHERE table_name = 'gatekeeper_definitions' ORDER BY column_name`,
      );
      return found;
    };
  });

  describe('an application', () => {
    const nodes: Gatekeeper[] = [];
    afterEach(async () => {
      await Promise.all(nodes.splice(0).map((node) => node.close()));
    });

    const start = async (store: StoreDefinition, connectionString = server.address()) => {
      const options: GatekeeperOptions = {
        store,
        definitions: CODE,
        persistence: postgresArchive({ connectionString }),
      };
      const warnings: string[] = [];
      const log = { log: () => {}, error: () => {}, debug: () => {}, warn: (text: string) => void warnings.push(text) };
      const quick = { definitionsDelay: 0, sweepInterval: 200 };
      const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ ...options, ...quick }), log);
      nodes.push(gatekeeper);
      const problems: Extract<GatekeeperEvent, { type: 'problem' }>[] = [];
      gatekeeper.events$.subscribe((event) => event.type === 'problem' && problems.push(event));
      await gatekeeper.start();
      return { gatekeeper, definitions: gatekeeper.definitions, problems, warnings };
    };
    const started = async (store: StoreDefinition) => {
      const node = await start(store);
      await eventually('code is loaded', async () => (await node.definitions.get('untouched')) !== undefined);
      return node;
    };

    it('finds what operators made of its definitions when its cluster comes up empty', async () => {
      const before = await started(memory());
      await before.definitions.edit('edited', { permits: 3 }, BY_ANN);
      await before.definitions.pause('paused', BY_ANN);
      await removed(before.gatekeeper, 'removed', BY_ANN);
      await before.definitions.define({ name: 'own', permits: 7, duration: '1m' }, BY_ANN);
      await before.gatekeeper.close();

      const { gatekeeper, definitions, problems } = await started(memory());
      expect(await definitions.get('edited')).toMatchObject({
        revision: 2,
        definition: { permits: 3 },
        change: BY_ANN,
      });
      expect(await gatekeeper.run('paused', () => 1)).toEqual({ executed: false, reason: 'paused' });
      expect(await definitions.get('removed')).toBeUndefined();
      expect(await definitions.get('own')).toMatchObject({ definition: { permits: 7 } });
      expect(await definitions.get('untouched')).toMatchObject({ revision: 1, isOverridden: false });
      expect(problems).toEqual([]);
    });

    it('goes on while the server is away, tells of it once, and saves when it is back', async () => {
      const { gatekeeper, definitions, problems, warnings } = await started(memory());
      await definitions.edit('edited', { permits: 2 }, BY_ANN);
      await eventually('the first edit is saved', async () => (await rows()).length === 1);

      await server.stop();
      await definitions.edit('edited', { permits: 5 }, BY_ANN);
      await definitions.pause('paused', BY_ANN);
      await eventually('the problem is reported', () => problems.length > 0);
      expect(await gatekeeper.run('untouched', () => 1)).toEqual({ executed: true, value: 1 });
      expect(await gatekeeper.run('paused', () => 1)).toEqual({ executed: false, reason: 'paused' });
      await server.restart();

      await eventually('what was changed meanwhile is saved', async () => (await rows()).length === 2);
      expect(await rows()).toMatchObject([
        { name: 'edited', revision: '3', body: { definition: { permits: 5 } } },
        { name: 'paused', revision: '2', body: { pause: BY_ANN } },
      ]);
      expect(warnings.join('\n')).toMatch(/problem in "archive \(postgres\): save definitions": .*ECONNREFUSED/);
      expect(warnings.join('\n')).not.toContain(PostgresServer.password);
      expect(warnings).toEqual([...new Set(warnings)]);
    });

    it('that starts while the server is away runs nothing that may be paused there, and all when it is back', async () => {
      const before = await started(memory());
      await before.definitions.pause('paused', BY_ANN);
      await before.gatekeeper.close();
      await server.stop();

      const { gatekeeper, problems } = await start(memory());
      await eventually('the problem is reported', () => problems.length > 0);
      const runs = () => Promise.all(['paused', 'untouched'].map((name) => gatekeeper.run(name, () => 1)));
      expect(await runs()).toMatchObject([{ executed: false }, { executed: false }]);
      await server.restart();

      await eventually('definitions are loaded', async () => (await runs())[1]!.executed);
      expect(await runs()).toMatchObject([{ executed: false, reason: 'paused' }, { executed: true }]);
      // A server that has just started may say so before it serves: that is another problem, told once as well.
      const told = problems.map(({ error }) => (error as Error).message);
      expect(told.filter((each) => each.includes('ECONNREFUSED'))).toHaveLength(1);
      expect(told).toEqual([...new Set(told)]);
    });

    it('may be there twice: what both change at once is all saved', async () => {
      const store = memory();
      const [one, other] = [await started(store), await started(store)];
      const all = Array.from({ length: 60 }, (_, index) => `job-${index}`);
      await Promise.all(
        all.map((name, index) => [one, other][index % 2]!.definitions.define({ name, duration: '10s' }, BY_ANN)),
      );
      await Promise.all(all.map((name, index) => [other, one][index % 2]!.definitions.pause(name, BY_ANN)));
      await Promise.all([one.gatekeeper.close(), other.gatekeeper.close()]);

      const kept = await rows();
      expect(kept).toHaveLength(60);
      expect(kept.filter(({ revision, body }) => revision === '2' && body.pause.by === 'ann')).toHaveLength(60);
      expect([...one.problems, ...other.problems]).toEqual([]);
    });
  });
});

/** The table as the documentation creates it. */
async function documentedTable(): Promise<string> {
  const text = await readFile(new URL('../../../docs/persistence.md', import.meta.url), 'utf8');
  return /```sql\n(CREATE TABLE[^`]*)```/.exec(text)![1]!;
}
