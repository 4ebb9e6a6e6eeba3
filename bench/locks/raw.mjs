import { createHash } from 'node:crypto';
import { Client } from 'hazelcast-client';
import { Redis } from 'ioredis';
import pg from 'pg';

/** About as long as a record that holds one permit. */
const FREE = 'free'.padEnd(250, '-');
const TAKEN = 'taken'.padEnd(250, '-');

/** The least that an acquisition and a release need: one compare-and-set each. They are the limit, not a lock. */
export const RAW = { 'raw-redis': onRedis, 'raw-postgres': onPostgres, 'raw-hazelcast': onHazelcast };

/** @param replace compares and writes a text, and says whether it did */
function pairs(set, replace, close) {
  const known = new Set();
  return {
    async acquire(lock) {
      // The peers on this server use the names themselves.
      const name = `raw:${lock}`;
      if (!known.has(name)) await set(name, FREE);
      known.add(name);
      if (!(await replace(name, FREE, TAKEN))) return undefined;
      return { token: null, release: () => replace(name, TAKEN, FREE) };
    },
    close,
  };
}

async function onRedis({ ports: [port] }) {
  const client = new Redis(port);
  const script =
    "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end redis.call('SET', KEYS[1], ARGV[2]) return 1";
  await client.script('LOAD', script);
  const sha = createHash('sha1').update(script).digest('hex');
  const replace = async (name, from, to) => (await client.evalsha(sha, 1, name, from, to)) === 1;
  return pairs(
    (name, text) => client.set(name, text),
    replace,
    () => client.disconnect(),
  );
}

async function onPostgres({ url }) {
  const pool = new pg.Pool({ connectionString: url, max: 10 });
  await pool.query('CREATE TABLE raw (key text PRIMARY KEY, text text NOT NULL) WITH (fillfactor = 50)');
  const insert = 'INSERT INTO raw VALUES ($1, $2)';
  const update = 'UPDATE raw SET text = $3 WHERE key = $1 AND text = $2 RETURNING key';
  return pairs(
    (...values) => pool.query(insert, values),
    async (...values) => (await pool.query({ name: 'replace', text: update, values })).rowCount === 1,
    () => pool.end(),
  );
}

async function onHazelcast({ clusterName, members }) {
  const properties = { 'hazelcast.logging.level': 'OFF' };
  const client = await Client.newHazelcastClient({ clusterName, network: { clusterMembers: members }, properties });
  const map = await client.getMap('gatekeeper.bench');
  return pairs(
    (name, text) => map.set(name, text),
    (name, from, to) => map.replaceIfSame(name, from, to),
    () => client.shutdown(),
  );
}
