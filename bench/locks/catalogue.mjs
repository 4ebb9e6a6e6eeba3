import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** Packages that only `bench/peers` installs. */
export const PEERS_FOLDER = new URL('../peers/', import.meta.url);
const ofPeers = createRequire(new URL('package.json', PEERS_FOLDER));
export const pinned = (name) => JSON.parse(readFileSync(new URL('package.json', PEERS_FOLDER))).dependencies[name];
const POM = readFileSync(new URL('shedlock/pom.xml', PEERS_FOLDER), 'utf8');
const pom = (name) => POM.match(new RegExp(`<${name}>(.*?)</`))[1];
export const installed = (name) => createRequire(import.meta.url)(`${name}/package.json`).version;

const REDIS = 'one Redis, one connection, append-only file synced once a second';
const POSTGRES = 'one PostgreSQL, at most 10 connections, each commit on disk';
const HAZELCAST = 'one Hazelcast member, in memory';

/**
 * All that is measured. `kind` is `ours`, `peer` or `raw`; raw operations are the limit of a store, not a lock. `server`
 * is the server that it needs. `installs`: whether the folder of the peers must be installed. `provider` is a profile of
 * ShedLock's pom. `differs` says how its work differs from the others' on the same server.
 */
export const CATALOGUE = [
  {
    id: 'ours-redis',
    name: 'ours, ioredis',
    kind: 'ours',
    server: 'redis',
    version: () => `ioredis ${installed('ioredis')}`,
    differs: `${REDIS}; one more connection for messages`,
  },
  {
    id: 'ours-node-redis',
    name: 'ours, node-redis',
    kind: 'ours',
    server: 'redis',
    version: () => `redis ${installed('redis')}`,
    differs: `${REDIS}; one more connection for messages`,
  },
  {
    id: 'redlock',
    name: 'redlock, one server',
    kind: 'peer',
    server: 'redis',
    installs: true,
    version: () => pinned('redlock'),
    differs: `${REDIS} (ioredis); no token`,
  },
  {
    id: 'redlock-3',
    name: 'redlock, three servers',
    kind: 'peer',
    server: 'redis',
    servers: 3,
    installs: true,
    version: () => pinned('redlock'),
    differs: 'three independent Redis on the same machine, one connection each (ioredis); no token',
  },
  {
    id: 'redis-semaphore',
    name: 'redis-semaphore, Mutex',
    kind: 'peer',
    server: 'redis',
    installs: true,
    version: () => pinned('redis-semaphore'),
    differs: `${REDIS} (ioredis); no token`,
  },
  {
    id: 'shedlock-redis',
    name: 'ShedLock, Redis',
    kind: 'peer',
    server: 'redis',
    provider: 'redis',
    version: () => `${pom('shedlock.version')}, Lettuce ${pom('lettuce.version')}`,
    differs: `${REDIS}; in Java, a flow is a thread; no token`,
  },
  {
    id: 'shedlock-redis-safe',
    name: 'ShedLock, Redis, safeUpdate',
    kind: 'peer',
    server: 'redis',
    provider: 'redis',
    javaArgs: ['-DsafeUpdate=true'],
    version: () => `${pom('shedlock.version')}, Lettuce ${pom('lettuce.version')}`,
    differs: `${REDIS}; in Java, a flow is a thread; safeUpdate(true), which is off by default; no token`,
  },
  {
    id: 'raw-redis',
    name: 'raw script calls',
    kind: 'raw',
    server: 'redis',
    version: () => `ioredis ${installed('ioredis')}`,
    differs: `${REDIS}; compares and writes 250 bytes`,
  },
  {
    id: 'ours-postgres',
    name: 'ours',
    kind: 'ours',
    server: 'postgres',
    version: () => `pg ${installed('pg')}`,
    differs: `${POSTGRES}; one more connection listens`,
  },
  {
    id: 'pg-advisory',
    name: 'advisory locks, plain pg',
    kind: 'peer',
    server: 'postgres',
    version: () => `pg ${installed('pg')}`,
    differs:
      'one PostgreSQL, at most 10 connections; each held lock keeps one; nothing is written; no token, no expiry',
  },
  {
    id: 'shedlock-jdbc',
    name: 'ShedLock, JDBC',
    kind: 'peer',
    server: 'postgres',
    provider: 'jdbc',
    version: () => `${pom('shedlock.version')}, PgJDBC ${pom('postgresql.version')}, HikariCP ${pom('hikari.version')}`,
    differs: `${POSTGRES}; in Java, a flow is a thread; usingDbTime(); no token`,
  },
  {
    id: 'raw-postgres',
    name: 'raw UPDATE … RETURNING',
    kind: 'raw',
    server: 'postgres',
    version: () => `pg ${installed('pg')}`,
    differs: `${POSTGRES}; compares and writes 250 bytes`,
  },
  {
    id: 'ours-hazelcast',
    name: 'ours',
    kind: 'ours',
    server: 'hazelcast',
    version: () => `hazelcast-client ${installed('hazelcast-client')}`,
    differs: HAZELCAST,
  },
  {
    id: 'shedlock-hazelcast',
    name: 'ShedLock, Hazelcast',
    kind: 'peer',
    server: 'hazelcast',
    provider: 'hazelcast',
    version: () => `${pom('shedlock.hazelcast.version')}, hazelcast ${pom('hazelcast.version')}`,
    differs: `${HAZELCAST}; in Java, a flow is a thread; no token; an old version, the newest that was reachable`,
  },
  {
    id: 'raw-hazelcast',
    name: 'raw replaceIfSame',
    kind: 'raw',
    server: 'hazelcast',
    version: () => `hazelcast-client ${installed('hazelcast-client')}`,
    differs: `${HAZELCAST}; compares and writes 250 bytes`,
  },
  {
    id: 'ours-memory',
    name: 'ours',
    kind: 'ours',
    server: 'memory',
    version: () => '',
    differs: 'within one process, no round trip',
  },
];

export const requirePeer = (name) => ofPeers(name);
