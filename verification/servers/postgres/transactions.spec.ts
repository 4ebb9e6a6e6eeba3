import {
  InvalidOptionsError,
  StoreUnavailableError,
  type TaskTransaction,
  grouped,
  memory,
  single,
} from 'nestjs-gatekeeper';
import { type PostgresStoreOptions, postgres } from 'nestjs-gatekeeper/postgres';
import { Gatekeeper } from '../../../lib/gatekeeper/gatekeeper.js';
import { parseGatekeeperOptions } from '../../../lib/gatekeeper/index.js';
import { TaskSweep } from '../../../lib/tasks/sweep/task-sweep.js';
import { describeUnless } from '../../../test/support/unless.js';
import { until } from '../../../test/support/apps.js';
import { type Pool, PostgresServer, lackOfPostgres } from '../../support/postgres-server.js';
import { partsOf } from '../../../lib/gatekeeper/parts.js';

const SILENT = { log() {}, warn() {}, error() {}, debug() {} };
const MAIL = single('mail', '1');

const nodes: Gatekeeper[] = [];
afterEach(async () => {
  jest.restoreAllMocks();
  await Promise.all(nodes.splice(0).map((node) => node.close()));
});

/** A node, and the data of the tasks of the type `mail` that it has worked on. */
async function start(store: Parameters<typeof parseGatekeeperOptions>[0]['store']) {
  const settings = parseGatekeeperOptions({ store, acquirer: 'app1', clockTolerance: 50, definitionsDelay: 0 });
  const node = new Gatekeeper(settings, SILENT);
  nodes.push(node);
  await node.start();
  const { tasks } = partsOf(node);
  const sent: unknown[] = [];
  tasks.handlers.handle('mail', ({ data }) => void sent.push(data));
  tasks.start();
  return { tasks, sent };
}

describeUnless(lackOfPostgres)('a task that is submitted in a transaction', () => {
  let server: PostgresServer;
  let pool: Pool;
  beforeAll(async () => {
    server = await PostgresServer.start();
    pool = await server.pool();
  });
  beforeEach(async () => {
    await pool.query(
      'DROP SCHEMA IF EXISTS gatekeeper CASCADE; DROP TABLE IF EXISTS orders; CREATE TABLE orders (id int)',
    );
  });
  afterAll(async () => {
    await pool?.end();
    await server?.[Symbol.asyncDispose]();
  });

  const node = (options: Partial<PostgresStoreOptions> = {}) =>
    start(postgres({ connectionString: server.address(), ...options } as PostgresStoreOptions));
  /** Does some work in a transaction, which ends with this word. */
  async function within<T>(end: 'COMMIT' | 'ROLLBACK', work: (tx: TaskTransaction) => Promise<T>): Promise<T> {
    const connection = await pool.connect();
    try {
      await connection.query('BEGIN');
      await connection.query('INSERT INTO orders VALUES (1)');
      const result = await work(connection);
      await connection.query(end);
      return result;
    } catch (error) {
      await connection.query('ROLLBACK');
      throw error;
    } finally {
      connection.release();
    }
  }

  it.each([{}, { notifications: false, pollInterval: 50 }])(
    'runs after the commit, and not before (%p)',
    async (options) => {
      // It would find the task, too, seconds later: the hint is to come with the commit.
      jest.spyOn(TaskSweep.prototype, 'runPass').mockResolvedValue(false);
      const { tasks, sent } = await node(options);
      await within('COMMIT', async (tx) => {
        const submitted = await tasks.submit(MAIL, { order: 1 }, { tx });
        expect(submitted).toEqual({ id: 'mail:1', outcome: 'created', because: expect.any(String) });
        expect(await tasks.find(MAIL)).toBeUndefined();
        // A task that was submitted later runs meanwhile.
        await tasks.submit(single('mail', '2'), { order: 2 });
        await until(() => sent.length > 0);
        expect(sent).toEqual([{ order: 2 }]);
      });
      await until(() => sent.length > 1);
      expect(sent[1]).toEqual({ order: 1 });
    },
  );

  it('never existed after a rollback, and can be submitted again', async () => {
    const { tasks, sent } = await node();
    await within('ROLLBACK', (tx) => tasks.submit(MAIL, 'lost', { tx }));
    expect(await tasks.find(MAIL)).toBeUndefined();
    await within('COMMIT', (tx) => tasks.submit(MAIL, 'kept', { tx }));
    await until(() => sent.length > 0);
    expect(sent).toEqual(['kept']);
  });

  it('is known to a second submission of the same transaction, and of a later one', async () => {
    const { tasks } = await node();
    const options = { runAt: '1h' } as const;
    const twice = await within('COMMIT', async (tx) => [
      await tasks.submit(MAIL, 1, { tx, ...options }),
      await tasks.submit(MAIL, 2, { tx, ...options }),
    ]);
    expect(twice.map(({ outcome }) => outcome)).toEqual(['created', 'known']);
    expect(await within('COMMIT', (tx) => tasks.submit(MAIL, 3, { tx }))).toMatchObject({ outcome: 'known' });
    expect(await tasks.find(MAIL)).toMatchObject({ state: 'delayed', data: 1 });
  });

  it.each(['COMMIT', 'ROLLBACK'] as const)(
    'lets other submissions of its id wait for %s, and no other ones',
    async (end) => {
      const { tasks } = await node();
      const options = { runAt: '1h' } as const;
      const ended: unknown[] = [];
      const duplicate = await within(end, async (tx) => {
        await tasks.submit(MAIL, 1, { tx, ...options });
        const submissions = Promise.all([2, 3].map((data) => tasks.submit(MAIL, data, options)));
        const outcomes = submissions.then((all) => ended.push(...all.map(({ outcome }) => outcome)));
        for (const name of ['2', '3']) {
          expect(await tasks.submit(single('mail', name), 1, options)).toMatchObject({ outcome: 'created' });
        }
        expect(ended).toEqual([]);
        return { outcomes };
      });
      await duplicate.outcomes;
      expect(ended).toEqual(end === 'COMMIT' ? ['known', 'known'] : ['created', 'known']);
      expect(await tasks.find(MAIL)).toMatchObject({ data: end === 'COMMIT' ? 1 : 2 });
    },
  );

  it.each(['COMMIT', 'ROLLBACK'] as const)(
    'begins anew after its end, if the transaction ends with %s',
    async (end) => {
      const { tasks, sent } = await node();
      await tasks.submit(MAIL, 'first');
      await until(async () => (await tasks.find(MAIL))?.state === 'completed');
      await within(end, (tx) => tasks.submit(MAIL, 'second', { tx }));
      if (end === 'COMMIT') await until(() => sent.length === 2);
      await until(async () => (await tasks.find(MAIL))?.state === 'completed');
      expect(sent).toEqual(end === 'COMMIT' ? ['first', 'second'] : ['first']);
    },
  );

  it('may have a fair key, or an address', async () => {
    const { tasks, sent } = await node();
    await within('COMMIT', async (tx) => {
      await tasks.submit(single('mail', 'fair'), 'fair', { tx, fairKey: 'acme' });
      await tasks.submit(single('mail', 'addressed'), 'addressed', { tx, to: 'app1' });
    });
    await until(() => sent.length === 2);
    expect(sent.toSorted()).toEqual(['addressed', 'fair']);
  });

  it.each(['a pool', 'a connection without BEGIN'])('is refused for %s, and nothing is written', async (what) => {
    const { tasks } = await node();
    const connection = await pool.connect();
    try {
      const submission = tasks.submit(MAIL, 1, { tx: what === 'a pool' ? pool : connection });
      await expect(submission).rejects.toThrow(InvalidOptionsError);
      await expect(submission).rejects.toThrow(/in no transaction.*not a pool/);
    } finally {
      connection.release();
    }
    expect(await tasks.find(MAIL)).toBeUndefined();
  });

  it('is refused if it can run no statements', async () => {
    const { tasks } = await node();
    const wrong = tasks.submit(MAIL, 1, { tx: 'BEGIN' as unknown as TaskTransaction });
    await expect(wrong).rejects.toThrow('tx: "BEGIN" has no method query');
  });

  it('is refused if its statements return no { rows }, as those of other libraries, and nothing is written', async () => {
    const { tasks } = await node();
    await within('COMMIT', async (tx) => {
      const other = { query: async (text: string, values?: unknown[]) => (await tx.query(text, values)).rows };
      const refused = tasks.submit(MAIL, 1, { tx: other as unknown as TaskTransaction });
      await expect(refused).rejects.toThrow(InvalidOptionsError);
      await expect(refused).rejects.toThrow(/tx: its query\(text, values\) does not return { rows }/);
    });
    expect(await tasks.find(MAIL)).toBeUndefined();
  });

  it('says that the transaction must be rolled back after an error', async () => {
    const { tasks } = await node();
    const failed = within('COMMIT', async (tx) => {
      await tx.query('SELECT 1/0').catch(() => undefined);
      await tasks.submit(MAIL, 1, { tx });
    });
    await expect(failed).rejects.toThrow(StoreUnavailableError);
    await expect(failed).rejects.toThrow(/roll it back/);
  });

  it('says that a connection belongs to another database', async () => {
    const { tasks } = await node();
    await pool.query('DROP DATABASE IF EXISTS other');
    await pool.query('CREATE DATABASE other');
    const other = await server.pool({ connectionString: server.address({ database: 'other' }) });
    const connection = await other.connect();
    try {
      await connection.query('BEGIN');
      await expect(tasks.submit(MAIL, 1, { tx: connection })).rejects.toThrow(
        "take the connection from the store's database",
      );
    } finally {
      connection.release();
      await other.end();
    }
  });

  it('is refused where other records would have to change with it', async () => {
    const { tasks } = await node();
    await within('ROLLBACK', async (tx) => {
      const refused = (submission: Promise<unknown>) => expect(submission).rejects.toThrow(/^.*tx: a t.*/s);
      await refused(tasks.submit(grouped('mail', 'all', 1, 1), 1, { tx }));
      await refused(tasks.submit(MAIL, 1, { tx, unique: { key: 'one' } }));
      await refused(tasks.submit(MAIL, 1, { tx, after: ['mail:0'] }));
      await refused(tasks.submitSerial('ada', MAIL, 1, { tx }));
    });
    expect(await tasks.find(MAIL)).toBeUndefined();
  });
});

describe('a transaction', () => {
  it('is refused by a store without transactions', async () => {
    const { tasks } = await start(memory());
    const tx = { query: async () => ({ rows: [] }) };
    await expect(tasks.submit(MAIL, 1, { tx })).rejects.toThrow(
      /task "mail:1".*tx: this store takes part in no transaction/s,
    );
  });
});
