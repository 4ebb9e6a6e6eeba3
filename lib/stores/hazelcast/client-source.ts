import type { Client as HazelcastClient, LifecycleState } from 'hazelcast-client';

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

/**
 * The values of its enum LifecycleState, which is not loaded here: a client that fails to connect shuts down late, perhaps
 * after a test runner let no module be loaded any more, and an error in its listener would stop that half-way.
 */
const LOST: ReadonlySet<string> = new Set(['DISCONNECTED', 'SHUTTING_DOWN', 'SHUTDOWN']);

export function meansLost(state: LifecycleState): boolean {
  return LOST.has(state);
}
