import { randomUUID } from 'node:crypto';
import { checkMemberOptions, type HazelcastMemberOptions, type HazelcastOptions } from './hazelcast.options.js';
import { freePort } from './free-port.js';

/** Settings of one member. They are chosen before its first start and stay the same at each restart. */
export interface MemberSettings {
  readonly address: string;
  readonly port: number;
  readonly heap: string;
  readonly jvmArgs: readonly string[];
  readonly command: readonly string[];
}

/** `address:port`, the format of clients and member lists. */
export const hostAndPort = ({ address, port }: Pick<MemberSettings, 'address' | 'port'>) => `${address}:${port}`;

/** Returns the options of each member. A number means members without options of their own. */
export const wantedMembers = (members: HazelcastOptions['members'] = 1): HazelcastMemberOptions[] =>
  typeof members === 'number' ? Array.from({ length: members }, () => ({})) : members;

export const uniqueClusterName = () => `gatekeeper-test-${randomUUID().slice(0, 13)}`;

/**
 * Chooses the settings of a member: its own options, else the cluster's, else the defaults. `jvmArgs` of both are
 * joined.
 *
 * @param taken settings of the existing members, whose ports are not free
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
