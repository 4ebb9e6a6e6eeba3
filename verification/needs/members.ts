import { MissingToolError, fetchHazelcast } from '../../lib/testing/index.js';
import { findJava } from '../../lib/testing/hazelcast/java.js';
import { pinnedVersion } from '../../lib/testing/hazelcast/package-files.js';
import { describeUnless, itUnless } from '../../test/support/unless.js';

/** Why no Hazelcast member can be started here; undefined: one can, and its jar lies in the cache. */
export const lackOfMembers = await lack();

/** Tests that start Hazelcast members. */
export const describeOnHazelcast = describeUnless(lackOfMembers);
export const itOnHazelcast = itUnless(lackOfMembers);

async function lack(): Promise<string | undefined> {
  try {
    await findJava(pinnedVersion());
    await fetchHazelcast();
    return undefined;
  } catch (error) {
    if (error instanceof MissingToolError) return error.inShort;
    throw error;
  }
}
