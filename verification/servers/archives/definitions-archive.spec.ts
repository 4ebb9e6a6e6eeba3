import {
  Gatekeeper,
  type GatekeeperEvent,
  type GatekeeperOptions,
  type StoreDefinition,
  memory,
  parseGatekeeperOptions,
} from 'nestjs-gatekeeper';
import { type PostgresStoreOptions, postgres } from 'nestjs-gatekeeper/postgres';
import { eventually } from '../../../test/contract/eventually.js';
import { describeArchiveContract } from '../../../test/operate/definitions/archive/archive.contract.js';
import { archived } from '../../../test/operate/definitions/archive/archived.js';
import { OpenedArchive } from '../../../test/operate/definitions/archive/opened-archive.js';
import { removed } from '../../../test/support/removed.js';
import { type Pool, PostgresServer, describeOnPostgres } from './postgres-server.js';

const BY_ANN = { by: 'ann', reason: 'the night of the move' };
const CODE = ['edited', 'paused', 'removed', 'untouched'].map((name) => ({ name, duration: '10s' }));

describeOnPostgres('An archive of definitions on a real PostgreSQL', () => {
  let server: PostgresServer;
  let admin: Pool;

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  beforeEach(async () => {
    admin = await server.pool();
    await admin.query('DROP SCHEMA IF EXISTS gatekeeper CASCADE');
  });
  afterEach(() => admin.end());
  afterAll(() => server?.[Symbol.asyncDispose]());

  const store = (options: PostgresStoreOptions = { connectionString: server.address() }) => postgres(options);
  const archive = (options?: PostgresStoreOptions) => new OpenedArchive(store(options));
  const rows = async () => {
    const { rows: found } = await admin.query(
      `SELECT text FROM gatekeeper.records WHERE key LIKE 'definition:%' ORDER BY key`,
    );
    return found.map(({ text }) => JSON.parse(text));
  };
  const rowCount = () =>
    rows().then(
      ({ length }) => length,
      () => 0,
    );

  describeArchiveContract('postgres({ connectionString })', async () => store());
  describeArchiveContract('postgres({ pool, notifications: false })', async () =>
    store({ pool: admin, notifications: false }),
  );

  describe('an archive', () => {
    it('needs rights only to the tables, and says so while it lacks them', async () => {
      await admin.query(`DROP ROLE IF EXISTS app; CREATE ROLE app LOGIN PASSWORD 'pw-of-the-app'`);
      const connectionString = server.address({ user: 'app', password: 'pw-of-the-app' });
      const one = archive({ connectionString });
      await expect(one.save([archived('a')])).rejects.toThrow(/permission denied.*|docs\/stores\.md/s);
      await one.close();

      const owner = archive();
      await owner.save([archived('a')]);
      await owner.close();
      await admin.query(`GRANT USAGE ON SCHEMA gatekeeper TO app;
        GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA gatekeeper TO app;
        GRANT USAGE ON ALL SEQUENCES IN SCHEMA gatekeeper TO app`);
      const other = archive({ connectionString });
      await other.save([archived('a', 3)]);
      await other.close();
      expect(await rows()).toMatchObject([{ name: 'a', revision: 3 }]);
      await admin.query('DROP OWNED BY app');
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

    it('writes a thousand definitions with few statements, and listens to nothing', async () => {
      const asked: string[] = [];
      const pool = { query: (text: string, values?: unknown[]) => (asked.push(text), admin.query(text, values)) };
      const one = archive({ pool, notifications: false });
      await one.save(Array.from({ length: 1000 }, (_, index) => archived(`job-${index}`)));
      expect(await rows()).toHaveLength(1000);
      expect(asked.length).toBeLessThan(100);
      await one.close();
      const listening = archive();
      await listening.save([archived('a')]);
      const { rows: sessions } = await admin.query(
        `SELECT query FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`,
      );
      expect(sessions).toEqual([]);
      await listening.close();
    });

    it('gives up on a locked table, and saves when it is free', async () => {
      const one = archive();
      await one.save([archived('a')]);
      const locker = await admin.connect();
      await locker.query('BEGIN; LOCK TABLE gatekeeper.records');
      await expect(one.save([archived('a', 3)])).rejects.toThrow(/timeout|longer than|in time/);
      await locker.query('COMMIT');
      locker.release();
      await one.save([archived('a', 3)]);
      expect(await rows()).toMatchObject([{ revision: 3 }]);
      await one.close();
    });

    it('makes its tables again when they were dropped, and writes all', async () => {
      const one = archive();
      await one.save([archived('a')]);
      await admin.query('DROP SCHEMA gatekeeper CASCADE');
      const both = [archived('a'), archived('b')];
      await expect(one.save(both)).rejects.toThrow(/the tables are missing: they are looked for again now/);
      await eventually('both are saved', () =>
        one.save(both).then(
          () => true,
          () => false,
        ),
      );
      expect(await rows()).toHaveLength(2);
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
      const one = archive({ connectionString: server.address(wrong) });
      const error = (await one.load().catch((fault: unknown) => fault)) as Error;
      expect(error.message).toMatch(sentence);
      expect(error.message).toContain(`${wrong.host ?? '127.0.0.1'}:${server.port}`);
      const told = `${error.stack} ${JSON.stringify(error)} ${String(error.cause)}`;
      expect(told).not.toMatch(/pw-never-shown|pw-that-is-wrong/);
      await one.close();
    });
  });

  describe('an application', () => {
    const nodes: Gatekeeper[] = [];
    afterEach(async () => {
      await Promise.all(nodes.splice(0).map((node) => node.close()));
    });

    const start = async (live: StoreDefinition) => {
      const options: GatekeeperOptions = {
        store: live,
        definitions: CODE,
        persistence: store(),
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
    const started = async (live: StoreDefinition) => {
      const node = await start(live);
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
      await eventually('the first edit is saved', async () => (await rowCount()) === 1);

      await server.stop();
      await definitions.edit('edited', { permits: 5 }, BY_ANN);
      await definitions.pause('paused', BY_ANN);
      await eventually('the problem is reported', () => problems.length > 0);
      expect(await gatekeeper.run('untouched', () => 1)).toEqual({ executed: true, value: 1 });
      expect(await gatekeeper.run('paused', () => 1)).toEqual({ executed: false, reason: 'paused' });
      await server.restart();

      await eventually('what was changed meanwhile is saved', async () => (await rowCount()) === 2);
      expect(await rows()).toMatchObject([
        { name: 'edited', revision: 3, definition: { permits: 5 } },
        { name: 'paused', revision: 2, pause: BY_ANN },
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
      const live = memory();
      const [one, other] = [await started(live), await started(live)];
      const all = Array.from({ length: 60 }, (_, index) => `job-${index}`);
      await Promise.all(
        all.map((name, index) => [one, other][index % 2]!.definitions.define({ name, duration: '10s' }, BY_ANN)),
      );
      await Promise.all(all.map((name, index) => [other, one][index % 2]!.definitions.pause(name, BY_ANN)));
      await Promise.all([one.gatekeeper.close(), other.gatekeeper.close()]);

      const kept = await rows();
      expect(kept).toHaveLength(60);
      expect(kept.filter(({ revision, pause }) => revision === 2 && pause.by === 'ann')).toHaveLength(60);
      expect([...one.problems, ...other.problems]).toEqual([]);
    });
  });
});
