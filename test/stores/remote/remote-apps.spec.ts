import { type INestApplication, Injectable } from '@nestjs/common';
import {
  ClusterSingleton,
  GatekeeperModule,
  type RecordChange,
  type Driver,
  RemoteRefusedError,
  UnknownOutcomeError,
  currentPermit,
  memory,
  remote,
} from 'nestjs-gatekeeper';
import { ROOT_KEY, decodeShardRoot } from '../../../lib/core/decision/index.js';
import { WATCH } from '../../../lib/stores/remote/protocol.js';
import { freePort } from '../../../lib/testing/hazelcast/free-port.js';
import { PLATFORMS, SETTINGS, TOKENS } from '../../console/consoles.js';
import { eventually } from '../../contract/eventually.js';
import { scripted } from '../../support/scripted-store.js';
import { useApps } from '../../support/apps.js';
import { type StoreHostApp, serveStore } from './host.js';

/** ms. HTTP on a busy machine: no call is to come too late. */
const CALL_TIMEOUT = 10_000;
/** Nor is a reading of a clock. A load of definitions that fails all the same begins again with the next sweep. */
const TOLERANT = { clockTolerance: 500, callTimeout: CALL_TIMEOUT, sweepInterval: 1000 };
const stores: Driver[] = [];
const hosts: INestApplication[] = [];
afterEach(async () => {
  await Promise.all(stores.splice(0).map((store) => store.close()));
  await Promise.all(hosts.splice(0).map((app) => app.close()));
});

const serve = async (options: Parameters<typeof serveStore>[0]): Promise<StoreHostApp> => {
  const host = await serveStore(options);
  hosts.push(host.app);
  return host;
};
const open = (url: string, token: string = TOKENS.node) => {
  const store = remote({ url, token }).open({ callTimeout: CALL_TIMEOUT });
  stores.push(store);
  return store;
};
const connected = (store: Driver) => eventually('it is connected', () => store.health().connected);

describe('two applications over the store of a third', () => {
  const { boot } = useApps();

  @Injectable()
  class Jobs {
    static running = 0;
    static most = 0;
    static readonly runs: { token: number; at: string }[] = [];

    @ClusterSingleton('export', '10s', { atLeastFor: 0 })
    async export(at: string): Promise<string | undefined> {
      Jobs.most = Math.max(Jobs.most, ++Jobs.running);
      Jobs.runs.push({ token: currentPermit().token, at });
      // The others get their turn in the midst of it.
      for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
      Jobs.running--;
      return at;
    }
  }

  it.each(PLATFORMS)(
    'run a guarded method one at a time, each in its turn, with growing tokens: %s',
    async (platform) => {
      Jobs.most = 0;
      Jobs.runs.length = 0;
      const { definition } = await serve({ store: memory(), platform });
      const [one, other] = await Promise.all([
        boot({ providers: [Jobs] }, TOLERANT, definition),
        boot({ providers: [Jobs] }, TOLERANT, definition),
      ]);
      const done = new Set<string | undefined>();
      await eventually('both had a turn', async () => {
        // Usually the first caller wins.
        const order = Jobs.runs.length % 2 ? [one, other] : [other, one];
        const results = await Promise.all(order.map((app) => app.get(Jobs).export(app === one ? 'one' : 'other')));
        for (const each of results) done.add(each);
        return done.has('one') && done.has('other') && Jobs.runs.length >= 10;
      });
      expect(Jobs.most).toBe(1);
      const tokens = Jobs.runs.map(({ token }) => token);
      expect(tokens).toEqual([...new Set(tokens)].toSorted((a, b) => a - b));
      expect((await one.gatekeeper.registry.nodes()).length).toBeGreaterThanOrEqual(2);
    },
  );

  it('hear of an edit on each other, and of one on the third', async () => {
    const host = await serve({ store: memory() });
    const definitions = [{ name: 'job', duration: '10s' }];
    const [one, other] = await Promise.all([
      boot({}, { definitions, ...TOLERANT }, host.definition),
      boot({}, { definitions, ...TOLERANT }, host.definition),
    ]);
    await one.gatekeeper.definitions.edit('job', { permits: 0 }, { by: 'ann' });
    expect(await other.gatekeeper.run('job', () => 1)).toEqual({ executed: false, reason: 'no-permit' });
    await eventually('word of it', () => other.events.some(({ type }) => type === 'changed'));
  });

  it('follow the code of a new version, once the former one has ended', async () => {
    const host = await serve({ store: memory() });
    const options = { ...TOLERANT, heartbeat: 1000 };
    const old = await boot({}, { ...options, definitions: [{ name: 'job', duration: '10s' }] }, host.definition);
    const current = await boot({}, { ...options, definitions: [{ name: 'job', duration: '20s' }] }, host.definition);
    await eventually('it knows that they differ', () =>
      current.events.some(({ type }) => type === 'definitions-differ'),
    );
    const stored = async () => (await current.gatekeeper.definitions.get('job'))!;
    expect(await stored()).toMatchObject({ source: 'code', definition: { duration: 10_000 } });
    await old.app.close();
    await eventually('it follows', async () => (await stored()).definition.duration === 20_000);
    expect(await stored()).toMatchObject({ source: 'code', change: { kind: 'follow' } });
  });
});

describe('the store of an application', () => {
  it('is not believed to be unchanged when it is killed in the midst of a write that it did', async () => {
    const shared = memory();
    const { store: behind, definition } = scripted(shared);
    const host = await serve({ store: definition });
    const store = open(host.url);
    await connected(store);
    behind.script = async (call, go) => {
      if (call !== 'compareAndSet') return go();
      await go();
      host.app.getHttpServer().closeAllConnections();
      return new Promise(() => undefined);
    };
    await expect(store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(UnknownOutcomeError);
    behind.script = undefined;
    expect(await store.records.read('key')).toBe('text');
  });

  it("is not believed to be unchanged when the application's own middleware gives up after a write", async () => {
    type Answer = { status(code: number): Answer; send(text: string): void; json: () => void };
    const late = (_: unknown, response: Answer, next: () => void) => {
      response.json = () => response.status(503).send('it took too long');
      next();
    };
    const shared = memory();
    const store = open((await serve({ store: shared, prepare: (app) => app.use(late) })).url);
    await expect(store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(UnknownOutcomeError);
    const behind = shared.open();
    stores.push(behind);
    expect(await behind.records.read('key')).toBe('text');
  });

  it('may come late, go and come back: then anything may have changed', async () => {
    const shared = memory();
    // Not one that the system gives away: meanwhile another connection could get it.
    const port = await freePort('127.0.0.1', new Set());
    const first = await serve({ store: shared, port });
    const { url } = first;
    await first.app.close();
    const store = open(url);
    const changes: RecordChange[] = [];
    await store.watch('', (change) => changes.push(change));
    await expect(store.records.read('key')).rejects.toThrow(/ECONNREFUSED/);
    expect(store.health()).toMatchObject({ connected: false, problem: expect.stringContaining('ECONNREFUSED') });

    const second = await serve({ store: shared, port });
    await connected(store);
    await eventually('word that anything may have changed', () => changes.length > 0);
    expect(changes).toEqual([{}]);
    expect(await store.records.compareAndSet('key', undefined, 'text')).toBe(true);
    await eventually('word of the write', () => changes.some(({ text }) => text === 'text'));

    await second.app.close();
    await expect(store.records.compareAndSet('key', 'text', 'never')).rejects.toThrow(/did not answer/);
    expect(store.health().connected).toBe(false);
    changes.length = 0;
    await serve({ store: shared, port });
    await connected(store);
    await eventually('word that anything may have changed', () => changes.length > 0);
    expect(changes[0]).toEqual({});
    expect(await store.records.read('key')).toBe('text');
  });

  it('ends its streams when the application closes, also of who does not listen', async () => {
    const host = await serve({ store: memory() });
    const store = open(host.url);
    await connected(store);
    await store.watch('', () => undefined);
    const began = performance.now();
    await host.app.close();
    expect(performance.now() - began).toBeLessThan(3000);
  });

  it.each(PLATFORMS)(
    'takes bodies beyond the limit of the application itself, up to 5 MB and no more: %s',
    async (platform) => {
      const host = await serve({ store: memory(), platform });
      const store = open(host.url);
      expect(await store.records.compareAndSet('key', undefined, 'x'.repeat(4_500_000))).toBe(true);
      await expect(store.records.compareAndSet('other', undefined, 'x'.repeat(5_500_000))).rejects.toThrow(
        RemoteRefusedError,
      );
      expect(await store.records.read('other')).toBeUndefined();
    },
  );

  it('tells of the store behind when that is away', async () => {
    const { store: behind, definition } = scripted(memory());
    const host = await serve({ store: definition });
    const store = open(host.url);
    await connected(store);
    behind.health = () => ({ connected: false, members: 0, quorum: 2, problem: 'no member answers' });
    await store.records.read('key');
    expect(store.health()).toEqual({ connected: false, members: 0, quorum: 2, problem: 'no member answers' });
  });
});

describe('who may not use the store', () => {
  const { start } = useApps();

  it.each([
    ['a wrong token', 'wrong-token-0123456789', /401.*console\.tokens/],
    ['a token of a lower role', TOKENS.define, /403.*role node/],
  ])('does not boot with %s, and says what to do', async (_what, token, advice) => {
    const { url } = await serve({ store: memory() });
    const booting = start({ imports: [GatekeeperModule.forRoot({ store: remote({ url, token }) })] });
    await expect(booting).rejects.toThrow(RemoteRefusedError);
    await expect(booting).rejects.toThrow(advice);
    const store = open(url, token);
    await eventually('health tells', () => advice.test(store.health().problem ?? ''));
    expect(store.health().problem).not.toContain(token);
  });

  it('finds the shards of a store in memory made: no application makes them beside the one that has the store', async () => {
    const host = await serve({ store: memory() });
    const store = open(host.url);
    const root = await store.records.read(ROOT_KEY);
    expect(decodeShardRoot(root!).state).toBe('open');
  });

  it('finds them made also if its first request is a watch', async () => {
    const own = memory();
    const { url } = await serve({ store: own });
    const ending = new AbortController();
    const headers = { authorization: `Bearer ${TOKENS.node}` };
    const { body } = await fetch(`${url}/${WATCH.path}?prefix=`, { headers, signal: ending.signal });
    await body!.getReader().read();
    const root = await own.open().records.read(ROOT_KEY);
    ending.abort();
    expect(decodeShardRoot(root!).state).toBe('open');
  });

  it('does not boot with an address that is no console', async () => {
    const { url } = await serve({ store: memory() });
    const store = remote({ url: url.replace('gatekeeper', 'elsewhere'), token: TOKENS.node });
    await expect(start({ imports: [GatekeeperModule.forRoot({ store })] })).rejects.toThrow(/404.*path of its console/);
  });

  it('reads but does not write where the console is read-only', async () => {
    const { url } = await serve({ store: memory(), console: { ...SETTINGS, readOnly: true } });
    const store = open(url);
    expect(await store.records.read('key')).toBeUndefined();
    await expect(store.records.compareAndSet('key', undefined, 'text')).rejects.toThrow(/403.*readOnly/);
  });
});
