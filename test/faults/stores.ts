import type { OwnClientOptions } from 'nestjs-gatekeeper';
import type { HazelcastOptions } from 'nestjs-gatekeeper/testing';
import { CP_CLUSTER } from '../contract/cp-cluster.js';

export type StoreName = 'optimistic' | 'pessimistic' | 'cp';

/** How the Hazelcast store writes, and what members that takes. */
export interface StoreMode {
  readonly client: Partial<OwnClientOptions>;
  readonly members: Pick<HazelcastOptions, 'version' | 'jvmArgs'>;
}

export const STORES: Record<StoreName, StoreMode> = {
  optimistic: { client: {}, members: {} },
  pessimistic: { client: { acquisition: 'pessimistic' }, members: {} },
  cp: { client: { cp: true }, members: { version: CP_CLUSTER.version, jvmArgs: CP_CLUSTER.jvmArgs } },
};
