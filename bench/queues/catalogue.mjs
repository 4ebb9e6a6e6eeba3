import { fileURLToPath } from 'node:url';
import { installed, pinned } from '../locks/catalogue.mjs';

/** The program of their processes. */
const actor = fileURLToPath(new URL('actor.mjs', import.meta.url));

const REDIS = 'append-only file, written to disk once a second: a crash of the machine loses up to 1 s';
const POSTGRES = 'each commit is on disk before it is confirmed: nothing is lost';
const HAZELCAST = 'in memory, with a copy on another member: one member alone, as here, loses all with its end';

/**
 * The systems whose tasks are measured. The fields are those of the locks in ../locks/catalogue.mjs; `promise` is what is
 * left of the confirmed tasks when the server dies.
 */
export const QUEUES = [
  {
    id: 'ours-redis',
    name: 'ours on Redis',
    kind: 'ours',
    server: 'redis',
    version: () => `ioredis ${installed('ioredis')}`,
    promise: REDIS,
  },
  {
    id: 'bullmq',
    name: 'BullMQ on Redis',
    kind: 'peer',
    server: 'redis',
    installs: true,
    version: () => `${pinned('bullmq')}, ioredis ${pinned('ioredis')}`,
    promise: REDIS,
  },
  {
    id: 'ours-postgres',
    name: 'ours on PostgreSQL',
    kind: 'ours',
    server: 'postgres',
    version: () => `pg ${installed('pg')}`,
    promise: POSTGRES,
  },
  {
    id: 'graphile-worker',
    name: 'graphile-worker on PostgreSQL',
    kind: 'peer',
    server: 'postgres',
    installs: true,
    version: () => `${pinned('graphile-worker')}, pg ${pinned('pg')}`,
    promise: POSTGRES,
  },
  {
    id: 'pg-boss',
    name: 'pg-boss on PostgreSQL',
    kind: 'peer',
    server: 'postgres',
    installs: true,
    version: () => `${pinned('pg-boss')}, pg ${pinned('pg')}`,
    promise: POSTGRES,
  },
  {
    id: 'ours-hazelcast',
    name: 'ours on Hazelcast',
    kind: 'ours',
    server: 'hazelcast',
    version: () => `hazelcast-client ${installed('hazelcast-client')}`,
    promise: HAZELCAST,
  },
].map((system) => ({ ...system, actor }));
