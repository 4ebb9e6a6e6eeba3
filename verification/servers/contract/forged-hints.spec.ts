import { Client } from 'hazelcast-client';
import { Redis } from 'ioredis';
import { Gatekeeper, type StoreDefinition, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { MessageSeals, SEAL } from '../../../lib/core/store/message-seals.js';
import { hazelcast } from '../../../lib/stores/hazelcast/index.js';
import { postgres } from '../../../lib/stores/postgres/index.js';
import { redis } from '../../../lib/stores/redis/index.js';
import { startHazelcast } from '../../../lib/testing/index.js';
import { eventually } from '../../../test/contract/eventually.js';
import { UNHURRIED } from '../../../test/contract/unhurried.js';
import { serveStore } from '../../../test/stores/remote/host.js';
import { ScriptedStore } from '../../../test/support/scripted-store.js';
import { describeUnless } from '../../../test/support/unless.js';
import { lackOfMembers } from '../../needs/members.js';
import { lackOfRedis } from '../../needs/redis.js';
import { PostgresServer, lackOfPostgres } from '../../support/postgres-server.js';
import { RedisServer } from '../../support/redis-server.js';

const KEY = 'semaphore:job';
const PERMITS = 2;
/** Forged messages of the flood. */
const FLOOD = 10_000;
const QUIET = { heartbeat: 0, history: false, sweepInterval: '1h', definitionsDelay: 0 } as const;

/** A message as the channel carries it. */
interface Message {
  /** Seal and body in one text. */
  readonly text: string;
  /** For Hazelcast, the key of the entry. */
  readonly entry?: string;
}

/** A program that may use the channel of hints, and may neither read nor write the store. */
interface Foreigner {
  readonly heard: readonly Message[];
  /** Text of a message about a record without its seal, as the sender of the store makes it. */
  bodyOf(key: string, text: string): Message;
  readonly scope: string;
  send(message: Message): Promise<unknown>;
  /** Proof that it can't reach the store by itself. */
  write(): Promise<unknown>;
}

interface Scene {
  readonly definition: StoreDefinition;
  readonly foreigner: Foreigner;
  stop(): Promise<void>;
}

async function onPostgres(): Promise<Scene> {
  const server = await PostgresServer.start();
  const owner = await server.pool();
  await owner.query("CREATE ROLE foreigner LOGIN PASSWORD 'foreign'");
  const foreign = await server.pool({ connectionString: server.address({ user: 'foreigner', password: 'foreign' }) });
  const heard: Message[] = [];
  const listening = await foreign.connect();
  listening.on('notification', ({ payload }) => heard.push({ text: payload }));
  await listening.query({ text: 'LISTEN gatekeeper', values: [] });
  return {
    definition: postgres({ connectionString: server.address() }),
    foreigner: {
      heard,
      scope: 'gatekeeper',
      bodyOf: (key, text) => ({ text: JSON.stringify(['changed', 'foreigner', key, text]) }),
      send: ({ text }) => foreign.query('SELECT pg_notify($1, $2)', ['gatekeeper', text]),
      write: () => foreign.query(`UPDATE gatekeeper.records SET text = ''`),
    },
    async stop() {
      listening.release(true);
      await Promise.all([owner.end(), foreign.end()]);
      await server[Symbol.asyncDispose]();
    },
  };
}

async function onRedis(): Promise<Scene> {
  const server = await RedisServer.start();
  await server.command(
    'ACL',
    'SETUSER',
    'foreigner',
    'on',
    '>foreign',
    'allchannels',
    '+publish',
    '+subscribe',
    '+info',
  );
  const settings = { username: 'foreigner', password: 'foreign' };
  const [foreign, listening] = [new Redis(server.port, settings), new Redis(server.port, settings)];
  const heard: Message[] = [];
  listening.on('message', (_, text) => heard.push({ text }));
  const channel = 'gatekeeper:0:changes';
  await listening.subscribe(channel);
  return {
    definition: redis({ url: server.url }),
    foreigner: {
      heard,
      scope: channel,
      bodyOf: (key, text) => ({ text: `foreigner ${key.length} ${key}${text}` }),
      send: ({ text }) => foreign.publish(channel, text),
      write: () => foreign.set('gatekeeper:hint-key', ''),
    },
    async stop() {
      foreign.disconnect();
      listening.disconnect();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Without rights of its own, a client of Hazelcast can write into every map: here it uses that of the hints alone. */
async function onHazelcast(): Promise<Scene> {
  const cluster = await startHazelcast();
  const { clusterName, addresses: members } = cluster;
  const client = await Client.newHazelcastClient({ clusterName, network: { clusterMembers: members } });
  const hints = await client.getMap<string, string>('gatekeeper.records.hints');
  const heard: Message[] = [];
  const hear = ({ key, value }: { key: string; value?: string | null }) =>
    void heard.push({ entry: key, text: value! });
  await hints.addEntryListener({ added: hear, updated: hear }, undefined, true);
  return {
    definition: hazelcast({ clusterName, members }),
    foreigner: {
      heard,
      scope: 'gatekeeper.records.hints',
      bodyOf: (key, text) => ({ entry: `* foreigner ${key}`, text }),
      send: ({ entry, text }) => hints.set(entry!, text),
      write: () => Promise.reject(new Error('it does not try')),
    },
    async stop() {
      await client.shutdown();
      await cluster.stop();
    },
  };
}

/** The same store, used through another application. */
async function throughRemote(): Promise<Scene> {
  const { definition, foreigner, stop } = await onRedis();
  const host = await serveStore({ store: definition, gatekeeper: UNHURRIED });
  return {
    definition: host.definition,
    foreigner,
    stop: async () => {
      await host.app.close();
      await stop();
    },
  };
}

const SCENES: [string, string | undefined, () => Promise<Scene>][] = [
  ['postgres()', lackOfPostgres, onPostgres],
  ['redis()', lackOfRedis, onRedis],
  ['hazelcast()', lackOfMembers, onHazelcast],
  ['remote() over redis()', lackOfRedis, throughRemote],
];

for (const [name, missing, prepare] of SCENES) {
  describeUnless(missing)(`forged hints on the channel of ${name}`, () => {
    let scene: Scene;
    let nodes: Gatekeeper[];
    let store: ScriptedStore;
    let reports = 0;
    let edits = 0;
    const changed: string[] = [];
    const lines: string[] = [];

    beforeAll(async () => {
      scene = await prepare();
      const { definition } = scene;
      const open: StoreDefinition['open'] = (options) => (store = new ScriptedStore(definition.open(options)));
      nodes = [await started('one', { ...definition, open }), await started('other', definition)];
      for (const node of nodes) for (const job of ['job', 'fence']) await used(node, job);
    });
    afterAll(async () => {
      await Promise.all(nodes.map((node) => node.close()));
      await scene.stop();
    });

    async function started(acquirer: string, definition: StoreDefinition): Promise<Gatekeeper> {
      const log = (line: unknown) => void lines.push(String(line));
      const logger = { log, warn: log, error: log, debug: () => undefined };
      const definitions = ['job', 'fence'].map((job) => ({ name: job, duration: '10s', permits: PERMITS }));
      const options = { ...QUIET, store: definition, definitions };
      const node = new Gatekeeper(parseGatekeeperOptions({ ...options, acquirer }), logger, {});
      node.on('problem', ({ action }) => void (action === 'listen to other nodes' && reports++));
      node.on(
        'changed',
        ({ semaphore, revision }) => void changed.push(`${node.node.acquirer} ${semaphore} ${revision}`),
      );
      await node.start();
      return node;
    }

    const present = async () => JSON.parse((await store.records.read(KEY))!) as { seq: number; permits: unknown[] };
    /** A record that is further than the one in the store. */
    const forgery = async () =>
      JSON.stringify({ ...(await present()), seq: 1e9, revision: 1e9, lastToken: 9e15, nonce: 'forged', permits: [] });

    /** Has the node know the record: it hears of no change of another one. */
    async function used(node: Gatekeeper, job: string): Promise<void> {
      await eventually('a permit', async () => {
        const permit = await node.tryAcquire(job);
        await permit?.release();
        return permit !== undefined;
      });
    }

    /** Has the other node edit, until the first one has heard of it. */
    async function heardOfEdit(semaphore: string): Promise<void> {
      const { revision } = await nodes[1]!.definitions.edit(semaphore, { permits: PERMITS + (++edits % 2) });
      await eventually('the node has heard of the edit', () => changed.includes(`one ${semaphore} ${revision}`));
    }

    /** Sends messages, and then an edit, whose hint comes after them. @returns the record before and after them */
    async function attacked(messages: readonly Message[]) {
      const before = await store.records.read(KEY);
      for (const message of messages) await scene.foreigner.send(message);
      await heardOfEdit('fence');
      // Comes after everything that the messages made the node do with the record.
      await nodes[0]!.explain('job');
      return { before, after: await store.records.read(KEY) };
    }

    it('come from one who can not write into the store', async () => {
      await expect(scene.foreigner.write()).rejects.toThrow(/permission|NOPERM|does not try/);
    });

    it('change nothing in the store, whatever they look like', async () => {
      const { bodyOf, scope } = scene.foreigner;
      const message = bodyOf(KEY, await forgery());
      const foreignSeals = new MessageSeals();
      let key: string | undefined;
      await foreignSeals.load({ read: async () => key, create: async (created) => void (key = created) });
      const sealed = (seal: string) => ({ ...message, text: seal + message.text });
      const { before, after } = await attacked([
        message,
        sealed(' '.repeat(SEAL)),
        sealed('x'.repeat(SEAL)),
        sealed(foreignSeals.sealOf(scope, message.text)),
        { ...message, text: '' },
        { ...message, text: '\0\u{1f600}'.repeat(9).replaceAll('\0', ' ') },
      ]);
      expect(after).toBe(before);
    });

    it('that are made of genuine ones, cut or sent again, change nothing in the store', async () => {
      await heardOfEdit('job');
      await heardOfEdit('job');
      await eventually('hints of the edits', () => scene.foreigner.heard.some(({ text }) => text.includes('job')));
      const genuine = [...scene.foreigner.heard];
      const { before, after } = await attacked([
        ...genuine,
        ...genuine,
        ...genuine.map(({ text, ...rest }) => ({ ...rest, text: text.slice(0, -20) })),
        ...genuine.map(({ text, ...rest }) => ({ ...rest, text: text.replace(/"permits":\d/, '"permits":9') })),
        ...genuine.map(({ text, ...rest }) => ({ ...rest, text: text.replace(/"seq":\d+/, '"seq":999') })),
        ...genuine.map(({ text, ...rest }) => ({ ...rest, text: text.replaceAll('job', 'jib') })),
      ]);
      expect(after).toBe(before);
      expect(lines.filter((line) => line.includes('the store had lost'))).toEqual([]);
    });

    it('give no node more permits than there are', async () => {
      const { permits } = (await nodes[1]!.definitions.get('job'))!.definition;
      const asked = [1, 2, 3, 4, 5].map((i) => nodes[i % 2]!.tryAcquire('job', { holder: `holder ${i}` }));
      const held = (await Promise.all(asked)).filter((permit) => permit !== undefined);
      expect(held).toHaveLength(permits);
      for (const permit of held) await permit.release();
    });

    it('in a flood cost a bounded number of reads, and one report', async () => {
      const { bodyOf, send } = scene.foreigner;
      const { read, readMany } = { ...store.calls };
      const text = await forgery();
      const began = performance.now();
      for (let i = 0; i < FLOOD; i += 100) {
        const some = Array.from({ length: 100 }, (_, j) => bodyOf(j % 2 ? KEY : `semaphore:unknown ${i + j}`, text));
        await Promise.all(some.map((message) => send({ ...message, text: 'x'.repeat(SEAL) + message.text })));
      }
      // The key is read through the inner store: here is what the node itself asks because of messages.
      const seconds = (performance.now() - began) / 1000 + 2;
      expect(store.calls.readMany - readMany + store.calls.read - read).toBeLessThan(10 * seconds);
      expect(reports).toBeLessThanOrEqual(nodes.length);
    });

    it('leave the hints of other nodes as they are: an acquire after an edit needs no read', async () => {
      await heardOfEdit('job');
      const { read } = store.calls;
      const permit = await nodes[0]!.tryAcquire('job');
      expect(store.calls.read - read).toBe(0);
      await permit!.release();
      await heardOfEdit('job');
    });
  });
}
