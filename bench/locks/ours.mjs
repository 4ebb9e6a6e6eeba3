import { Gatekeeper, hazelcast, memory, parseGatekeeperOptions } from 'nestjs-gatekeeper';
import { postgres } from 'nestjs-gatekeeper/postgres';
import { redis } from 'nestjs-gatekeeper/redis';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';

const QUIET = { log() {}, warn() {}, error() {}, debug() {} };

/** Each gives the store, and what closes the client that it uses. */
const STORES = {
  'ours-memory': () => ({ store: memory(), close() {} }),
  'ours-hazelcast': ({ clusterName, members }) => ({ store: hazelcast({ clusterName, members }), close() {} }),
  'ours-redis'({ ports: [port] }) {
    const client = new Redis(port);
    client.on('error', () => undefined);
    return { store: redis({ client }), close: () => client.disconnect() };
  },
  async 'ours-node-redis'({ ports: [port] }) {
    const client = createClient({ socket: { port } });
    client.on('error', () => undefined);
    await client.connect();
    return { store: redis({ client }), close: () => client.destroy() };
  },
  'ours-postgres'({ url }) {
    const pool = new pg.Pool({ connectionString: url, max: 10 });
    pool.on('error', () => undefined);
    return { store: postgres({ pool }), close: () => pool.end() };
  },
};

/** Our permits, with the options of an application that changes none. The names are defined by code. */
export async function ours(id, address, node, names) {
  const { store, close } = await STORES[id](address);
  const definitions = names.map((name) => ({ name, duration: '10m' }));
  const gatekeeper = new Gatekeeper(parseGatekeeperOptions({ store, acquirer: node, definitions }), QUIET);
  await gatekeeper.start();
  await gatekeeper.ready();
  return {
    async acquire(name, duration, keepAlive) {
      const permit = await gatekeeper.tryAcquire(name, { duration, keepAlive });
      return permit && { token: permit.token, believes: () => permit.isHeld, release: () => permit.release() };
    },
    /** As the decorator does: the permit is kept until it expires. */
    async run(name, duration, work) {
      return (await gatekeeper.run(name, work, { duration })).executed;
    },
    async close() {
      await gatekeeper.close();
      await close();
    },
  };
}
