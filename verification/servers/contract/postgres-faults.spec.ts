import { postgres } from '../../../lib/stores/postgres/index.js';
import { type Pool, PostgresServer, describeOnPostgres } from '../archives/postgres-server.js';
import { checkHistory } from '../../proof/history/check-history.js';
import type { HistoryEntry } from '../../proof/history/history.js';
import { eventually } from '../../../test/contract/eventually.js';
import { Contender, SEMAPHORE } from './postgres-contenders.js';

/** ms. Longer than the duration of a permit, 2 s. */
const LONG_FREEZE = 4000;

describeOnPostgres('Nodes that contend for permits on PostgreSQL, while the server has faults', () => {
  let server: PostgresServer;
  let admin: Pool;
  let contenders: Contender[];
  let history: HistoryEntry[];

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  beforeEach(async () => {
    admin = await server.pool();
    await admin.query('DROP SCHEMA IF EXISTS gatekeeper CASCADE');
  });
  afterEach(async () => {
    await Promise.all(contenders.map((each) => each.stop()));
    await admin.end();
  });
  afterAll(() => server?.[Symbol.asyncDispose]());

  const grants = () => contenders.reduce((sum, each) => sum + each.grants, 0);
  const granting = (more = 20) => {
    const before = grants();
    return eventually(`${more} more grants`, () => grants() >= before + more, 30_000);
  };
  const contend = async (permits: number) => {
    history = [{ at: 0, process: 'test', event: 'limited', semaphore: SEMAPHORE, permits }];
    const store = () => postgres({ connectionString: server.address(), maxConnections: 3 });
    contenders = Array.from({ length: 3 }, () => new Contender(store(), permits, history));
    await Promise.all(contenders.map((each) => each.start()));
    await granting();
  };
  const violations = () => checkHistory(history, { slack: 200 }).violations;

  it('never hold more than there are when the server is killed, and go on when it is back', async () => {
    await contend(2);
    for (let round = 0; round < 3; round++) {
      await server.kill();
      await server.restart();
      await granting();
    }
    expect(violations()).toEqual([]);
  });

  it('never hold more than there are when the server is frozen, shorter and longer than a permit lasts', async () => {
    await contend(1);
    for (const ms of [500, LONG_FREEZE]) {
      const thaw = await server.freeze();
      const frozenAt = performance.now();
      await eventually(`the server was frozen for ${ms} ms`, () => performance.now() - frozenAt > ms);
      thaw();
      await granting();
    }
    expect(violations()).toEqual([]);
  });

  it('never hold more than there are when all connections are cut, again and again', async () => {
    await contend(2);
    for (let round = 0; round < 20; round++) {
      await admin.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = current_database()',
      );
      await granting(5);
    }
    expect(violations()).toEqual([]);
  });
});
