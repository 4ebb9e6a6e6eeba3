import { setTimeout as pause } from 'node:timers/promises';
import { type Client as HazelcastClient, type IAtomicReference, UnsupportedOperationError } from 'hazelcast-client';
import { CpMissingError } from './cp-missing.error.js';
import { CP_GROUP, type CpReferences } from './cp-references.js';

/** A group's first leader is elected within about three seconds of its first use. */
const PATIENCE = 10_000;

/** What is used of a proxy's insides (hazelcast-client 5.6): the id of the group that its reference lies in. */
interface GroupMember {
  getGroupId?(): { readonly seed: unknown; readonly id: unknown };
}

/**
 * Sees to it that there is a CP subsystem, and that it answers.
 *
 * @throws CpMissingError when the members have none, or it runs in unsafe mode
 * @throws Error when it does not answer, as long as fewer members are there than it was configured for
 */
export async function proveCp(client: HazelcastClient, references: CpReferences): Promise<void> {
  const patience = new AbortController();
  const tooLong = pause(PATIENCE, undefined, { signal: patience.signal }).then(() => {
    throw new Error(
      `the CP subsystem did not answer within ${PATIENCE} ms: it needs as many members as cp-member-count says`,
    );
  });
  tooLong.catch(() => undefined); // it loses the race
  try {
    await Promise.race([prove(client, references), tooLong]);
  } finally {
    patience.abort();
  }
}

async function prove(client: HazelcastClient, references: CpReferences): Promise<void> {
  try {
    const proof = await references.of('proof');
    if (isUnsafe(client, proof)) throw new CpMissingError('it runs in unsafe mode, since cp-member-count is 0');
    await proof.get();
  } catch (error) {
    if (error instanceof UnsupportedOperationError) throw new CpMissingError(error.message, { cause: error });
    throw error;
  }
}

/**
 * Without CP members open-source members up to 5.4 keep CP references like any other data, without consensus, and say so
 * nowhere. But then a group's id is the partition of its name, with a seed of 0. A true one is an index of the log in
 * which the group was made, far higher than any number of partitions.
 */
function isUnsafe(client: HazelcastClient, reference: IAtomicReference<unknown>): boolean {
  const group = (reference as GroupMember).getGroupId?.();
  const partition = client.getPartitionService().getPartitionId(CP_GROUP);
  return String(group?.seed) === '0' && String(group?.id) === String(partition);
}
