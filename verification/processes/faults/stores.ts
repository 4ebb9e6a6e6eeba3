import type { OwnClientOptions } from 'nestjs-gatekeeper';
import type { HazelcastOptions } from 'nestjs-gatekeeper/testing';
import { CP_CLUSTER } from '../../servers/contract/cp-cluster.js';

/** Stores on members of Hazelcast. */
export type MemberStoreName = 'optimistic' | 'pessimistic' | 'cp';
/** Stores on one server. */
export type ServerStoreName = 'postgres' | 'redis';
export type StoreName = MemberStoreName | ServerStoreName;

/** How the Hazelcast store writes, and what members that takes. */
export interface StoreMode {
  readonly client: Partial<OwnClientOptions>;
  readonly members: Pick<HazelcastOptions, 'version' | 'jvmArgs'>;
}

export const MEMBER_STORES: Record<MemberStoreName, StoreMode> = {
  optimistic: { client: {}, members: {} },
  pessimistic: { client: { acquisition: 'pessimistic' }, members: {} },
  cp: { client: { cp: true }, members: { version: CP_CLUSTER.version, jvmArgs: CP_CLUSTER.jvmArgs } },
};

export const SERVER_STORES: readonly ServerStoreName[] = ['postgres', 'redis'];
export const STORES: readonly StoreName[] = [...(Object.keys(MEMBER_STORES) as MemberStoreName[]), ...SERVER_STORES];

export function isOnServer(store: StoreName): store is ServerStoreName {
  return (SERVER_STORES as readonly StoreName[]).includes(store);
}
