import { eventually } from '../../test/contract/eventually.js';
import { RedisServer } from './redis-server.js';

const SLOTS = 16_384;
const PRIMARIES = 3;

/** Three primaries of a Cluster, on loopback, and a replica of each if wanted. */
export class RedisCluster implements AsyncDisposable {
  private constructor(
    /** The primaries. */
    readonly servers: readonly RedisServer[],
    /** The replica of each primary, in their order. */
    readonly replicas: readonly RedisServer[],
  ) {}

  static async start({ hasReplicas = false } = {}): Promise<RedisCluster> {
    // A busy machine may keep a server waiting for seconds, and without one of them the Cluster refuses all calls.
    const settings = { 'cluster-enabled': 'yes', 'cluster-node-timeout': 15_000 };
    const length = hasReplicas ? 2 * PRIMARIES : PRIMARIES;
    const servers = await allOrNone(Array.from({ length }, () => RedisServer.start(settings)));
    const cluster = new RedisCluster(servers.slice(0, PRIMARIES), servers.slice(PRIMARIES));
    // As redis-cli does. Servers with one epoch settle that by and by; a replica that takes over meanwhile may get the epoch that
    // others know of its primary. It gets no slot then, for ever.
    await Promise.all(servers.map((server, index) => server.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)));
    await Promise.all(cluster.servers.map((server, index) => server.command('CLUSTER', 'ADDSLOTS', ...slotsOf(index))));
    const [first, ...others] = servers;
    for (const { port } of others) await first!.command('CLUSTER', 'MEET', '127.0.0.1', port);
    await eventually('the Cluster is complete', async () =>
      (await Promise.all(servers.map((server) => isComplete(server, length)))).every(Boolean),
    );
    await Promise.all(cluster.replicas.map((replica, index) => follow(replica, cluster.servers[index]!)));
    await eventually('all servers agree on the epoch of each primary', async () => {
      const views = await Promise.all(servers.map(epochsOf));
      return new Set(views).size === 1 && new Set(views[0]!.split(' ')).size === PRIMARIES;
    });
    return cluster;
  }

  get ports(): readonly number[] {
    return this.servers.map(({ port }) => port);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.servers, ...this.replicas].map((server) => server[Symbol.asyncDispose]()));
  }
}

/** Ends the servers that started if another one did not, for example because the port of its bus is taken. */
async function allOrNone(starting: readonly Promise<RedisServer>[]): Promise<RedisServer[]> {
  try {
    return await Promise.all(starting);
  } catch (error) {
    for (const { value } of (await Promise.allSettled(starting)) as { value?: RedisServer }[])
      await value?.[Symbol.asyncDispose]();
    throw error;
  }
}

/** Each slot by its number: ranges need Redis 7. */
function slotsOf(index: number): number[] {
  const at = (part: number) => Math.floor((part * SLOTS) / PRIMARIES);
  return Array.from({ length: at(index + 1) - at(index) }, (_, place) => at(index) + place);
}

async function follow(replica: RedisServer, primary: RedisServer): Promise<void> {
  await replica.command('CLUSTER', 'REPLICATE', String(await primary.command('CLUSTER', 'MYID')));
  await eventually('the replica has the data', async () =>
    String(await replica.command('INFO', 'replication')).includes('master_link_status:up'),
  );
}

/** Config epochs of the primaries as a server knows them, in the order of the slots. */
async function epochsOf(server: RedisServer): Promise<string> {
  const nodes = String(await server.command('CLUSTER', 'NODES')).split('\n');
  const primaries = nodes.map((line) => line.split(' ')).filter(([, , flags = '']) => flags.includes('master'));
  const bySlots = primaries.toSorted(([, , , , , , , , one = ''], [, , , , , , , , other = '']) =>
    one.localeCompare(other),
  );
  return bySlots.map(([, , , , , , epoch]) => epoch).join(' ');
}

async function isComplete(server: RedisServer, servers: number): Promise<boolean> {
  const info = String(await server.command('CLUSTER', 'INFO'));
  return info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${servers}`);
}
