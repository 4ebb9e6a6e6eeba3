/**
 * Fault: without CP members, open-source members up to 5.4 keep CP references like any other data, without consensus
 *   ("unsafe mode"). Neither the members nor the client say so. In this mode a group's id is the partition of its name,
 *   with a seed of 0. The proxy's types hide its group's id.
 * Upstream: not reported; https://docs.hazelcast.com/hazelcast/5.4/cp-subsystem/cp-subsystem describes the mode
 * Versions: 5.6, with members up to 5.4; the same in 5.7.0. A client that is built differently counts as safe.
 * Shown by: verification/servers/contract/hazelcast-cp.spec.ts, "members whose cp-member-count is 0"
 * Goes when: members up to 5.4 are no longer supported, or the client exposes the mode.
 */
import type { Client as HazelcastClient, IAtomicReference } from 'hazelcast-client';

/** Used internals of a proxy: the id of its reference's group. */
interface Inside {
  getGroupId?(): { readonly seed: unknown; readonly id: unknown };
}

/**
 * Whether a reference's group looks like a partition. The id of a real group is at first a random number below 10,000.
 * So one real group may look like a partition by chance, but hardly ever two.
 */
export function looksUnsafe(client: HazelcastClient, reference: IAtomicReference<unknown>, groupName: string): boolean {
  const group = (reference as Inside).getGroupId?.();
  const partition = client.getPartitionService().getPartitionId(groupName);
  return String(group?.seed) === '0' && String(group?.id) === String(partition);
}
