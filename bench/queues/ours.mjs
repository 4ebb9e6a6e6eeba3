import { Gatekeeper, hazelcast, parseGatekeeperOptions, single } from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { redis } from 'nestjs-gatekeeper/redis';
import { Redis } from 'ioredis';
import pg from 'pg';
import { CONNECTIONS } from '../peers/servers.mjs';

const QUIET = { log() {}, warn() {}, error() {}, debug() {} };

/** Each gives a function that makes the store of a node, and what closes the client that all nodes use. */
const STORES = {
  'ours-hazelcast': ({ clusterName, members }) => ({ store: () => hazelcast({ clusterName, members }), close() {} }),
  'ours-redis'({ ports: [port] }) {
    const client = new Redis(port);
    client.on('error', () => undefined);
    return { store: () => redis({ client }), close: () => client.disconnect() };
  },
  'ours-postgres'({ url }) {
    const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
    pool.on('error', () => undefined);
    return { store: () => postgres({ pool }), close: () => pool.end() };
  },
};

/** Our tasks by the ids of the stores, in the form of ../peers/queues.mjs: one node submits, and another one works. */
export const OURS = Object.fromEntries(
  Object.entries(STORES).map(([id, connect]) => [id, (address) => ours(connect(address))]),
);

function ours({ store, close }) {
  let submitter;
  return {
    async prepare() {
      submitter ??= await open(store());
    },
    submit: (name, task, data) => submitter.tasks.submit(single(name, task), data),
    async work(name, concurrency, handler, onEnd) {
      const worker = await open(store());
      worker.events$.subscribe(({ type }) => type === 'task-ended' && onEnd());
      worker.tasks.handlers.handle(name, ({ id: task }) => handler(task), { concurrency });
      worker.tasks.handlers.start();
      return () => worker.close();
    },
    async close() {
      await submitter?.close();
      await close();
    },
  };
}

async function open(store) {
  const settings = parseGatekeeperOptions({ store, acquirer: 'bench', history: false, heartbeat: 0 });
  const gatekeeper = new Gatekeeper(settings, QUIET);
  await gatekeeper.start();
  await gatekeeper.ready();
  return gatekeeper;
}
