import type { Client as HazelcastClient, LifecycleState } from 'hazelcast-client';
import { onLifecycle } from './client-patches/lifecycle-events.js';

/** A client with a connection to the cluster. */
export interface LiveClient {
  readonly client: HazelcastClient;
  /** Aborts when the client has lost the cluster, or no longer runs. */
  readonly lost: AbortSignal;
  /** Ends the use of the client. Closes it, unless the application owns it. */
  release(): Promise<void>;
}

/** Source of clients: made and closed by the store, or owned by the application. */
export interface ClientSource {
  /** @throws if there is no connected client now; a later call may succeed */
  connect(): Promise<LiveClient>;
}

/**
 * Values of the enum LifecycleState, written here so that the client's module need not be loaded. A client that fails
 * to connect shuts down late, perhaps when a test runner no longer allows modules to be loaded. An error in the
 * listener would then stop the shutdown.
 */
const LOST: ReadonlySet<string> = new Set(['DISCONNECTED', 'SHUTTING_DOWN', 'SHUTDOWN']);

export function meansLost(state: LifecycleState): boolean {
  return LOST.has(state);
}

/** Uses the application's client, which reconnects by its own config. Never closes it. */
export class GivenClient implements ClientSource {
  constructor(readonly client: HazelcastClient) {}

  async connect(): Promise<LiveClient> {
    const { client } = this;
    if (!client.getLifecycleService().isRunning())
      throw new Error('the client that was passed in has been shut down: pass a running one');
    const lost = new AbortController();
    const stopListening = onLifecycle(client, (state) => meansLost(state) && lost.abort());
    const release = async () => {
      stopListening();
      // Node keeps a source signal while signals that were derived from it have listeners.
      lost.abort();
    };
    return { client, lost: lost.signal, release };
  }
}
