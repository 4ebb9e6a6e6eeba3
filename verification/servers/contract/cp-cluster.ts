import type { HazelcastOptions } from '../../../lib/testing/index.js';

/** The last open-source version with the CP subsystem, and the fewest members that make one. */
export const CP_CLUSTER: HazelcastOptions = {
  version: '5.4.0',
  members: 3,
  jvmArgs: ['-Dhz.cp-subsystem.cp-member-count=3'],
};
