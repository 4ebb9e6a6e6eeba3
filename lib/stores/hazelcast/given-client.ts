import type { Client as HazelcastClient } from 'hazelcast-client';
import { onLifecycle } from './client-patches/lifecycle-events.js';
import { type ClientSource, type LiveClient, meansLost } from './client-source.js';

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
