import type { Client as HazelcastClient, LifecycleState } from 'hazelcast-client';

/** A client for as long as it is connected. */
export interface LiveClient {
  readonly client: HazelcastClient;
  /** Aborts when the client lost the cluster, or is no longer running. */
  readonly lost: AbortSignal;
  /** Ends the use of the client: closes it, or leaves it to its owner. */
  release(): Promise<void>;
}

/** Source of clients: made and closed by the store, or owned by the application. */
export interface ClientSource {
  /** @throws when there is no connected client now; another call may succeed */
  connect(): Promise<LiveClient>;
}

/**
 * Values of the enum LifecycleState, without loading the client's module: a client that fails to connect shuts down late,
 * perhaps when a test runner no longer allows to load modules. An error in its listener would then stop the shutdown.
 */
const LOST: ReadonlySet<string> = new Set(['DISCONNECTED', 'SHUTTING_DOWN', 'SHUTDOWN']);

export function meansLost(state: LifecycleState): boolean {
  return LOST.has(state);
}
