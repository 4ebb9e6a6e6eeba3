import { Gatekeeper, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { postgres } from '../../../lib/stores/postgres/index.js';
import { PostgresServer, describeOnPostgres } from '../archives/postgres-server.js';
import { SwitchableProxy } from '../../../test/support/switchable-proxy.js';
import { eventually } from '../../../test/contract/eventually.js';
import { answered, expectKept } from './lost-grant.js';

/** ms: in its second half the holder connects again and refreshes, which takes some seconds on a busy machine. */
const DURATION = 16_000;
const SETTINGS = { definitionsDelay: 0, clockTolerance: 100, callTimeout: 1000, sweepInterval: 500, heartbeat: 500 };
const silent = { log: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

describeOnPostgres('a failover to an asynchronous replica that lacks the newest writes', () => {
  let empty: PostgresServer;
  const closing: (() => unknown)[] = [];
  beforeAll(async () => {
    empty = await PostgresServer.start();
    await empty.stop();
  });
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });
  afterAll(() => empty?.[Symbol.asyncDispose]());

  it.each([true, false])(
    'gives no permit away whose grant was lost, by a node that knows exactly what the replica has, or by a new node (notifications: %s)',
    async (notifications) => {
      const primary = await kept(await PostgresServer.copyOf(empty));
      const replica = await kept(await PostgresServer.replicaOf(primary, empty));
      const toHolder = await kept(await SwitchableProxy.start(primary.port));
      const toOther = await kept(await SwitchableProxy.start(primary.port));
      const holder = await newNode('holder', addressOf(primary, toHolder.port), notifications);
      const other = await newNode('other', addressOf(primary, toOther.port), notifications);
      await (await other.acquire('job')).release(); // the last write that the other node and the replica know
      toOther.refuse();
      await replica.lag(primary);
      const permit = await holder.acquire('job');
      await primary.kill();
      await replica.promote();
      toOther.target = replica.port;
      toOther.accept();
      const late = await newNode('late', replica.address(), notifications);
      const reconnect = () => toHolder.switchTo(replica.port);
      await expectKept({ permit, duration: DURATION, others: [other, late], reconnect });
    },
  );

  it('has no grace after a crash of the same server, which lost nothing', async () => {
    const primary = await kept(await PostgresServer.copyOf(empty));
    const node = await newNode('node', primary.address(), true);
    const permit = await node.acquire('job');
    await primary.kill();
    await primary.restart();
    await eventually('the node asks again', () => permit.refresh());
    await permit.release();
    expect(await answered(node)).toBe('granted');
  });

  async function kept<T extends AsyncDisposable>(resource: T): Promise<T> {
    closing.push(() => resource[Symbol.asyncDispose]());
    return resource;
  }

  async function newNode(acquirer: string, connectionString: string, notifications: boolean): Promise<Gatekeeper> {
    const store = postgres({ connectionString, maxConnections: 3, notifications, pollInterval: 50 });
    const definitions = [{ name: 'job', permits: 1, duration: DURATION }];
    const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ store, acquirer, definitions, ...SETTINGS }), silent);
    closing.push(() => gatekeeper.close());
    await gatekeeper.start();
    await gatekeeper.ready();
    return gatekeeper;
  }
});

function addressOf(server: PostgresServer, port: number): string {
  return server.address().replace(`:${server.port}/`, `:${port}/`);
}
