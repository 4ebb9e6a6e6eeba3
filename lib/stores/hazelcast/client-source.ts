import type { Client as HazelcastClient, LifecycleState } from 'hazelcast-client';
import loadHazelcastClient from '../../../load-hazelcast-client.cjs';

/** A client for as long as it is connected. */
export interface LiveClient {
  readonly client: HazelcastClient;
  /** Aborts when the client lost the cluster, or is no longer running. */
  readonly lost: AbortSignal;
  /** Gives the client back: closes it, or leaves it to its owner. */
  release(): Promise<void>;
}

/** Source of clients: made and closed by the store, or owned by the application. */
export interface ClientSource {
  /** @throws when there is no connected client now; another call may succeed */
  connect(): Promise<LiveClient>;
}

export function meansLost(state: LifecycleState): boolean {
  const { DISCONNECTED, SHUTTING_DOWN, SHUTDOWN } = loadHazelcastClient().LifecycleState;
  return state === DISCONNECTED || state === SHUTTING_DOWN || state === SHUTDOWN;
}
