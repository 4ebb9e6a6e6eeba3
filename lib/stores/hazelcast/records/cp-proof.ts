import { setTimeout as pause } from 'node:timers/promises';
import type { Client as HazelcastClient, IAtomicReference } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';
import { CpMissingError } from './cp-missing.error.js';
import { CP_GROUP, type CpReferences } from './cp-references.js';

/** A group's first leader is elected within about three seconds of its first use. */
const PATIENCE = 10_000;

/** Made only where the first one looks like no group at all. */
const SECOND_GROUP = `${CP_GROUP}-proof`;

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
    if (isLikeData(client, proof, CP_GROUP) && (await isUnsafe(client, references)))
      throw new CpMissingError('it runs in unsafe mode, since cp-member-count is 0');
    await proof.get();
  } catch (error) {
    const { UnsupportedOperationError } = loadHazelcastClient();
    if (error instanceof UnsupportedOperationError) throw new CpMissingError(error.message, { cause: error });
    throw error;
  }
}

/**
 * Without CP members open-source members up to 5.4 keep CP references like any other data, without consensus, and say so
 * nowhere. But then a group's id is the partition of its name, with a seed of 0. A true one is a random number below
 * 10,000 at first, so that one group may look like it by chance; a second one hardly does, too.
 */
async function isUnsafe(client: HazelcastClient, references: CpReferences): Promise<boolean> {
  return isLikeData(client, await references.of('proof', SECOND_GROUP), SECOND_GROUP);
}

function isLikeData(client: HazelcastClient, reference: IAtomicReference<unknown>, name: string): boolean {
  const group = (reference as GroupMember).getGroupId?.();
  const partition = client.getPartitionService().getPartitionId(name);
  return String(group?.seed) === '0' && String(group?.id) === String(partition);
}
