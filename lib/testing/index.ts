/**
 * Replacements of the module for unit tests, clusters in one process for tests of tasks, and Hazelcast members.
 *
 * @module nestjs-gatekeeper/testing
 */

export { GatekeeperTestingModule } from './gatekeeper/gatekeeper-testing.module.js';
export { TestGatekeeper, type TestGatekeeperOptions } from './gatekeeper/test-gatekeeper.js';
export type { TestCall, TestDenial } from './gatekeeper/test-calls.js';
export { TestTasks, type TestTasksOptions } from './tasks/test-tasks.js';
export type { TestAttempt } from './tasks/task-log.js';
export type { TestNode, TestNodeOptions } from './tasks/test-node.js';
export { startHazelcast } from './hazelcast/start-hazelcast.js';
export { fetchHazelcast } from './hazelcast/hazelcast-jar.js';
export { HazelcastLauncherError, MissingToolError } from './hazelcast/launcher.error.js';
export type { HazelcastCluster } from './hazelcast/hazelcast-cluster.js';
export type { HazelcastMember } from './hazelcast/hazelcast-member.js';
export type { HazelcastOptions, HazelcastMemberOptions } from './hazelcast/hazelcast.options.js';
export {
  type Outage,
  type StoreContract,
  type StoreLacks,
  type StoreUnderTest,
  type TestRunner,
  describeStoreContract,
} from './contract/index.js';
