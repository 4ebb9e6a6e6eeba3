import { createServer, connect } from 'node:net';
import { Redis } from 'ioredis';
import { startHazelcast } from 'nestjs-gatekeeper/testing';
import pg from 'pg';
import { startPostgres, startRedis } from '../peers/servers.mjs';

/**
 * Servers of one peer alone, with the faults that its cases inject:
 *
 * - `lease`: ms of a lock that outlives the fault.
 * - `lose()` loses the data; `lost` says how. Resolves when the server takes calls again.
 * - `failover`, if the server has a replica that is behind: `cut()` before the grant, `kill()` after it.
 */
export function openBed(peer) {
  if (peer.servers > 1) return threeServers();
  return { redis: primaryAndReplica, postgres: onePostgres, hazelcast: oneMember }[peer.server](peer);
}

async function threeServers() {
  const servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
  return {
    address: { ports: servers.map(({ port }) => port) },
    lease: 6000,
    lost: 'one of three servers: FLUSHALL',
    lose: () => command(servers[0].port, 'flushall'),
    close: () => Promise.all(servers.map((server) => server.stop())),
  };
}

async function primaryAndReplica() {
  const [primary, replica] = await Promise.all([startRedis(), startRedis()]);
  await command(replica.port, 'replicaof', '127.0.0.1', primary.port);
  const proxy = await startProxy(primary.port);
  let current = primary.port;
  return {
    address: { ports: [proxy.port] },
    lease: 6000,
    lost: 'FLUSHALL',
    lose: () => command(current, 'flushall'),
    failover: {
      async cut() {
        const isLinked = async () => /master_link_status:up/.test(await command(replica.port, 'info', 'replication'));
        while (!(await isLinked())) await new Promise((resolve) => setTimeout(resolve, 50));
        await command(replica.port, 'replicaof', 'no', 'one');
      },
      async kill() {
        await primary.kill();
        current = replica.port;
        proxy.retarget(current);
      },
    },
    async close() {
      await proxy.stop();
      await Promise.all([primary.stop(), replica.stop()]);
    },
  };
}

async function onePostgres(peer) {
  const server = await startPostgres();
  const [lost, statement] = LOSSES[peer.id];
  return {
    address: { url: server.url },
    lease: 6000,
    lost,
    async lose() {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query(statement);
      await client.end();
    },
    close: () => server.stop(),
  };
}

/** An advisory lock is in no table: it is lost with its session. */
const LOSSES = {
  'ours-postgres': ['TRUNCATE', 'TRUNCATE gatekeeper.records'],
  'shedlock-jdbc': ['TRUNCATE', 'TRUNCATE shedlock'],
  'pg-advisory': [
    'all sessions ended, as by a restart',
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'pg-advisory-%'",
  ],
};

async function oneMember() {
  const cluster = await startHazelcast();
  const [member] = cluster.members;
  return {
    address: { clusterName: cluster.clusterName, members: cluster.addresses },
    // The member needs a few seconds to start.
    lease: 20_000,
    lost: 'the only member killed and started again',
    async lose() {
      await member.kill();
      await member.start();
    },
    close: () => cluster.stop(),
  };
}

async function command(port, ...words) {
  const client = new Redis(port);
  try {
    return await client.call(...words);
  } finally {
    client.disconnect();
  }
}

/** The one address that clients know, as a service's name is: it leads to the primary of the moment. */
async function startProxy(first) {
  let target = first;
  const sockets = new Set();
  const keep = (socket) => sockets.add(socket.on('error', () => undefined).once('close', () => sockets.delete(socket)));
  const server = createServer((incoming) => {
    const outgoing = connect(target, '127.0.0.1');
    keep(incoming);
    keep(outgoing);
    incoming.pipe(outgoing).pipe(incoming);
    incoming.once('close', () => outgoing.destroy());
    outgoing.once('close', () => incoming.destroy());
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = () => sockets.forEach((socket) => socket.destroy());
  return {
    port: server.address().port,
    retarget(port) {
      target = port;
      cut();
    },
    async stop() {
      const closed = new Promise((resolve) => server.close(resolve));
      cut();
      await closed;
    },
  };
}
