import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { createClient } from 'redis';
import { Gatekeeper, type Permit, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { redis } from '../../../lib/stores/redis/index.js';
import type { CallEntry, HistoryEntry, PermitEntry } from '../../proof/history/history.js';
import { checkHistory } from '../../proof/history/check-history.js';
import { describeOnRedis } from '../../needs/redis.js';
import { RedisServer } from '../../support/redis-server.js';
import { SwitchableProxy } from '../../../test/support/switchable-proxy.js';
import { eventually } from '../../../test/contract/eventually.js';
import { answered, expectKept } from './lost-grant.js';

const PERMITS = 2;
/** ms: long enough for a new server and a new node to start meanwhile on a busy machine. */
const DURATION = 12_000;
const SETTINGS = { definitionsDelay: 0, clockTolerance: 100, callTimeout: 1000, sweepInterval: 500, heartbeat: 500 };
const limited: HistoryEntry = { at: 0, process: 'test', event: 'limited', semaphore: 'job', permits: PERMITS };
const silent = { log: () => undefined, warn: () => undefined, error: () => undefined, debug: () => undefined };

describeOnRedis('a failover to a replica that lacks the newest writes', () => {
  const closing: (() => unknown)[] = [];
  afterEach(async () => {
    for (const close of closing.splice(0).toReversed()) await close();
  });

  const CLIENTS: Record<string, (port: number) => Promise<Redis | ReturnType<typeof createClient>>> = {
    ioredis: async (port) => {
      const client = new Redis(port, { retryStrategy: () => 50 });
      closing.push(() => client.disconnect());
      return client;
    },
    'node-redis': async (port) => {
      const client = createClient({ socket: { port, reconnectStrategy: 50 } });
      client.on('error', () => undefined);
      await client.connect();
      closing.push(() => client.destroy());
      return client;
    },
  };

  it.each(Object.keys(CLIENTS))(
    'never lets more than the permits be held at once, and tokens grow (%s)',
    async (kind) => {
      const [primary, replica] = [await RedisServer.start(), await RedisServer.start()];
      closing.push(
        () => primary[Symbol.asyncDispose](),
        () => replica[Symbol.asyncDispose](),
      );
      await replica.follow(primary);
      const proxy = await SwitchableProxy.start(primary.port);
      closing.push(() => proxy[Symbol.asyncDispose]());

      const workers = await Promise.all(
        ['a', 'b', 'c', 'd'].map(async (name) => newWorker(name, await CLIENTS[kind]!(proxy.port))),
      );
      const history = () => workers.flatMap((worker) => worker.history);
      const grants = () => history().filter(({ event }) => event === 'granted');
      await eventually('work goes on', () => grants().length > 10);

      await replica.command('REPLICAOF', 'NO', 'ONE'); // from now on it lags for ever
      const kept = grants().length;
      await eventually('permits are granted that the replica does not know', () => grants().length > kept + 5);
      await primary.kill();
      proxy.switchTo(replica.port);
      const before = grants().length;
      await eventually('permits are granted after the failover', () => grants().length > before + 10, 30_000);
      await Promise.all(workers.map((worker) => worker.stop()));

      const { violations, figures } = checkHistory([limited, ...history()]);
      expect(violations).toEqual([]);
      expect(figures.grants).toBeGreaterThan(25);
      const tokens = grants()
        .toSorted((one, other) => one.at - other.at)
        .map((entry) => (entry as { token: number }).token);
      expect(Math.max(...tokens.slice(0, before))).toBeLessThan(Math.min(...tokens.slice(-5)));
    },
  );

  it('gives no permit away whose grant was lost, before its holder is back', async () => {
    const [primary, replica] = [await RedisServer.start(), await RedisServer.start()];
    closing.push(
      () => primary[Symbol.asyncDispose](),
      () => replica[Symbol.asyncDispose](),
    );
    // Before the nodes start: a primary that gets its first replica counts as another server, and its grace would last.
    await replica.follow(primary);
    const [toHolder, toOther] = [await SwitchableProxy.start(primary.port), await SwitchableProxy.start(primary.port)];
    closing.push(
      () => toHolder[Symbol.asyncDispose](),
      () => toOther[Symbol.asyncDispose](),
    );
    const holder = await newNode('holder', await CLIENTS['ioredis']!(toHolder.port), 1, DURATION);
    const other = await newNode('other', await CLIENTS['ioredis']!(toOther.port), 1, DURATION);
    await replica.command('REPLICAOF', 'NO', 'ONE'); // from now on it lags for ever
    await (await other.acquire('job')).release(); // the other node knows more than the replica
    const permit = await holder.acquire('job'); // the replica and the other node don't know of it
    await primary.kill();
    toOther.switchTo(replica.port);
    toHolder.cut();

    const answers = new Set<string>();
    await eventually('half of the permit is over', async () => {
      answers.add(await answered(other));
      return permit.remaining < DURATION / 2;
    });
    expect(answers).toEqual(new Set(['denied']));
    expect(permit.isHeld).toBe(true);
    toHolder.switchTo(replica.port);
    await eventually('the holder has its permit again', () => permit.refresh());
    await permit.release();
    const next = await other.acquire('job', { timeout: 20_000 });
    expect(next.token).toBeGreaterThan(permit.token);
  });

  it('gives no permit away whose grant was lost, by a node that knows exactly what the replica has, or by a new node', async () => {
    const [primary, replica] = [await RedisServer.start(), await RedisServer.start()];
    closing.push(
      () => primary[Symbol.asyncDispose](),
      () => replica[Symbol.asyncDispose](),
    );
    // Before the nodes start: a primary that gets its first replica counts as another server, and its grace would last.
    await replica.follow(primary);
    const [toHolder, toOther] = [await SwitchableProxy.start(primary.port), await SwitchableProxy.start(primary.port)];
    closing.push(
      () => toHolder[Symbol.asyncDispose](),
      () => toOther[Symbol.asyncDispose](),
    );
    const holder = await newNode('holder', await CLIENTS['ioredis']!(toHolder.port), 1, DURATION);
    const other = await newNode('other', await CLIENTS['ioredis']!(toOther.port), 1, DURATION);
    await (await other.acquire('job')).release(); // the last write that the other node and the replica know
    await eventually('the replica has the write', async () => (await offsetOf(replica)) === (await offsetOf(primary)));
    toOther.target = replica.port;
    toOther.cut();
    await replica.command('REPLICAOF', 'NO', 'ONE'); // from now on it lags for ever
    const permit = await holder.acquire('job');
    await primary.kill();
    const late = await newNode('late', await CLIENTS['ioredis']!(replica.port), 1, DURATION);
    const reconnect = () => toHolder.switchTo(replica.port);
    await expectKept({ permit, duration: DURATION, others: [other, late], reconnect });
  });

  async function newNode(
    name: string,
    client: Redis | ReturnType<typeof createClient>,
    permits: number,
    duration: number,
  ) {
    const store = redis({ client });
    const definitions = [{ name: 'job', permits, duration }];
    const settings = parseGatekeeperOptions({ store, acquirer: name, definitions, ...SETTINGS });
    const gatekeeper = new Gatekeeper(settings, silent);
    closing.push(() => gatekeeper.close());
    await gatekeeper.start();
    await gatekeeper.ready();
    return gatekeeper;
  }

  /** Takes permits, keeps them for a while, and gives them back, again and again. */
  async function newWorker(name: string, client: Redis | ReturnType<typeof createClient>) {
    const gatekeeper = await newNode(name, client, PERMITS, 1500);
    const history: HistoryEntry[] = [];
    const log = (entry: CallEntry | PermitEntry) => history.push({ at: performance.now(), process: name, ...entry });
    const stopping = new AbortController();

    const once = async () => {
      const call = randomUUID();
      log({ event: 'invoked', call, verb: 'acquire', semaphore: 'job' });
      let permit: Permit;
      try {
        permit = await gatekeeper.acquire('job', { timeout: 5000, keepAlive: true });
      } catch (error) {
        return log({ event: 'failed', call, semaphore: 'job', error: (error as { code?: string }).code ?? 'unknown' });
      }
      const { id, slot, token } = permit;
      log({ event: 'granted', call, semaphore: 'job', permit: id, slot, token, remaining: permit.remaining });
      permit.signal.addEventListener('abort', () =>
        log({ event: 'ended', semaphore: 'job', permit: id, reason: 'lost' }),
      );
      await pauseOrEnd(permit.signal, 50 + Math.random() * 400);
      const release = randomUUID();
      log({ event: 'invoked', call: release, verb: 'release', semaphore: 'job', permit: id });
      await permit.release().catch(() => undefined); // a lost one
    };
    const working = (async () => {
      while (!stopping.signal.aborted) await once();
    })();
    return { history, stop: () => (stopping.abort(), working) };
  }
});

/** How much of the primary's changes a server has: its replication id, and the number of bytes. */
async function offsetOf(server: RedisServer): Promise<string> {
  const info = String(await server.command('INFO', 'replication'));
  return ['master_replid', 'master_repl_offset']
    .map((field) => new RegExp(`${field}:(\\w+)`).exec(info)?.[1])
    .join(' ');
}

function pauseOrEnd(signal: AbortSignal, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()));
  });
}
