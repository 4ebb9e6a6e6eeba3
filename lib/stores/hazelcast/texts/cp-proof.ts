import type { Client as HazelcastClient } from 'hazelcast-client';
import loadHazelcastClient from '../../../../load-hazelcast-client.cjs';
import { systemClock } from '../../../core/async/node-clock.js';
import { pause } from '../../../core/async/pause.js';
import { StoreUnavailableError } from '../../../core/store/store.errors.js';
import { looksUnsafe } from '../client-patches/unsafe-cp.js';
import { CP_GROUP, type CpReferences } from './cp-references.js';

/** The option `cp: true` needs a CP subsystem, but the members have none. */
export class CpMissingError extends StoreUnavailableError {
  static override readonly className = 'CpMissingError';
  override readonly code = 'cp-missing';

  constructor(found: string, options?: ErrorOptions) {
    super(
      `cp: true needs the CP subsystem of Hazelcast, which this cluster does not have (${found}): set ` +
        'cp-subsystem.cp-member-count to 3 or more on the members (open source up to 5.4, Enterprise from 5.5), or leave ' +
        'cp out of hazelcast(options)',
      options,
    );
  }
}

/** ms. The first leader of a group is elected about three seconds after the group's first use. */
const PATIENCE = 10_000;

/** Created only if the first group looks unsafe. */
const SECOND_GROUP = `${CP_GROUP}-proof`;

/**
 * Checks that the members have a CP subsystem, and that it answers.
 *
 * @throws CpMissingError if the members have none, or it runs in unsafe mode
 * @throws Error if it does not answer, because fewer members are present than configured
 */
export async function proveCp(client: HazelcastClient, references: CpReferences): Promise<void> {
  const patience = new AbortController();
  const proof = prove(client, references).then(() => true);
  const tooLong = pause(systemClock, PATIENCE, patience).then(() => false);
  try {
    if (await Promise.race([proof, tooLong])) return;
  } finally {
    patience.abort();
  }
  throw new Error(
    `the CP subsystem did not answer within ${PATIENCE} ms: it needs as many members as cp-member-count says`,
  );
}

async function prove(client: HazelcastClient, references: CpReferences): Promise<void> {
  try {
    if (await isUnsafe(client, references))
      throw new CpMissingError('it runs in unsafe mode, since cp-member-count is 0');
    await (await references.of('proof')).get();
  } catch (error) {
    const { UnsupportedOperationError } = loadHazelcastClient();
    if (error instanceof UnsupportedOperationError) throw new CpMissingError(error.message, { cause: error });
    throw error;
  }
}

/** Checks two groups, because one may look unsafe by chance. */
async function isUnsafe(client: HazelcastClient, references: CpReferences): Promise<boolean> {
  for (const group of [CP_GROUP, SECOND_GROUP]) {
    if (!looksUnsafe(client, await references.of('proof', group), group)) return false;
  }
  return true;
}
