import { userInfo } from 'node:os';
import type { StoreDefinition } from '../../core/store/index.js';
import type { DirectOptions } from '../direct/direct-operator.js';
import { UsageFailure } from '../options/exit-code.js';
import type { Operator } from '../operator/operator.js';
import { RestOperator } from '../rest/rest-operator.js';
import type { StoreTarget, Target } from '../options/target.js';

/** Settings of the connection to a target. */
export interface Manner extends Pick<DirectOptions, 'timeout' | 'logger' | 'clockTolerance' | 'group' | 'acquirer'> {
  /** The author of changes. With --url the token names the author. */
  readonly by?: string | undefined;
}

const SIGNED_BY_TOKEN = 'with --url the token names the author of changes: leave --as out';
const NODE_SPEAKS =
  'with --url the answering node explains its own decision: leave --group and --acquirer out, or use --store';

/** Connects to a target. @throws UsageFailure, or CommandFailure if the cluster can't be reached */
export async function openOperator(target: Target, { by, ...manner }: Manner): Promise<Operator> {
  const { group, acquirer, timeout } = manner;
  if (target.kind === 'rest') {
    if (by !== undefined) throw new UsageFailure(SIGNED_BY_TOKEN);
    if (group !== undefined || acquirer !== undefined) throw new UsageFailure(NODE_SPEAKS);
    return new RestOperator({ url: target.url, token: target.token, timeout });
  }
  const [store, { DirectOperator }] = await Promise.all([storeAt(target), import('../direct/direct-operator.js')]);
  return DirectOperator.open({ ...manner, by: by ?? userName(), store, target: store.place ?? store.kind });
}

/** Imports its code only when needed, because to load a client of a store takes longer than a request. */
async function storeAt({ kind, address, further }: StoreTarget): Promise<StoreDefinition> {
  if (kind === 'redis') return (await import('../../stores/redis/index.js')).redis({ url: address, ...further });
  if (kind === 'postgres') {
    const { postgres } = await import('../../stores/postgres/index.js');
    // A look at a wrong database makes no tables there.
    return postgres({ createTables: false, connectionString: address, ...further });
  }
  const { hazelcast } = await import('../../stores/hazelcast/index.js');
  return hazelcast({ ...further, ...clusterAt(address) });
}

/** @throws UsageFailure */
function clusterAt(address: string): { readonly members: string[]; readonly clusterName: string } {
  const [, members, cluster] = /^hazelcast:\/\/([^/?#@\s]+)(?:\/([^/?#\s]*))?$/i.exec(address) ?? [];
  if (members === undefined) throw new UsageFailure(NO_CLUSTER);
  try {
    return { members: members.split(','), clusterName: cluster ? decodeURIComponent(cluster) : 'dev' };
  } catch (cause) {
    // A "%" that begins no escape.
    throw new UsageFailure(NO_CLUSTER, { cause });
  }
}

const NO_CLUSTER =
  '--store has no address of a Hazelcast cluster: give hazelcast://host:5701,host:5701/cluster, and credentials in --store-options';

/** In a container, the user of the process may have no name. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
