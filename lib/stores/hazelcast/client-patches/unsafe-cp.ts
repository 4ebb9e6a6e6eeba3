/**
 * Fault: without CP members, open-source members up to 5.4 keep CP references like any other data, without consensus
 *   ("unsafe mode"), and neither they nor the client say so. But then a group's id is the partition of its name, with a
 *   seed of 0; the proxy hides its group's id.
 * Upstream: not reported; https://docs.hazelcast.com/hazelcast/5.4/cp-subsystem/cp-subsystem describes the mode
 * Versions: 5.6, with members up to 5.4; the same in 5.7.0. A client that looks otherwise inside passes for safe.
 * Shown by: test/contract/hazelcast-cp.spec.ts, "members whose cp-member-count is 0"
 * Goes when: members up to 5.4 are no longer supported, or the client tells the mode.
 */
import type { Client as HazelcastClient, IAtomicReference } from 'hazelcast-client';

/** The part of a proxy's inside that is used: the id of the group that its reference lies in. */
interface Inside {
  getGroupId?(): { readonly seed: unknown; readonly id: unknown };
}

/**
 * Whether a reference's group looks like a partition. A true group's id is a random number below 10,000 at first, so
 * that one group may look like it by chance; two hardly ever do.
 */
export function looksUnsafe(client: HazelcastClient, reference: IAtomicReference<unknown>, groupName: string): boolean {
  const group = (reference as Inside).getGroupId?.();
  const partition = client.getPartitionService().getPartitionId(groupName);
  return String(group?.seed) === '0' && String(group?.id) === String(partition);
}
