import { randomUUID } from 'node:crypto';
import { checkMemberOptions, type HazelcastMemberOptions, type HazelcastOptions } from './hazelcast.options.js';
import { freePort } from './free-port.js';

/** Settings of one member, chosen before its first start and the same for each restart. */
export interface MemberSettings {
  readonly address: string;
  readonly port: number;
  readonly heap: string;
  readonly jvmArgs: readonly string[];
  readonly command: readonly string[];
}

/** `address:port`, as clients and member lists want it. */
export const hostAndPort = ({ address, port }: Pick<MemberSettings, 'address' | 'port'>) => `${address}:${port}`;

/** Options of each member; a number means members without own options. */
export const wantedMembers = (members: HazelcastOptions['members'] = 1): HazelcastMemberOptions[] =>
  typeof members === 'number' ? Array.from({ length: members }, () => ({})) : members;

export const uniqueClusterName = () => `gatekeeper-test-${randomUUID().slice(0, 13)}`;

/**
 * Settings of the member number `index`: its own options, else the cluster's, else the defaults. `taken` are the
 * members that exist already.
 */
export async function settleMember(
  index: number,
  own: HazelcastMemberOptions,
  cluster: HazelcastOptions,
  taken: readonly MemberSettings[],
): Promise<MemberSettings> {
  const { address = cluster.address ?? '127.0.0.1', ...options } = checkMemberOptions(own);
  const given = options.port ?? (cluster.basePort === undefined ? undefined : cluster.basePort + index);
  return {
    address,
    port: given ?? (await freePort(address, new Set(taken.map(({ port }) => port)))),
    heap: options.heap ?? cluster.heap ?? '256m',
    jvmArgs: [...(cluster.jvmArgs ?? []), ...(options.jvmArgs ?? [])],
    command: options.command ?? cluster.command ?? [],
  };
}
