import type { EventEmitter } from 'node:events';
import type { Client as HazelcastClient, LifecycleService, LifecycleState } from 'hazelcast-client';
import { type ClientSource, type LiveClient, meansLost } from './client-source.js';

const LIFECYCLE_EVENT = 'lifecycleEvent';

/** Borrows the application's client: it reconnects as its own config says, and is never closed here. */
export class GivenClient implements ClientSource {
  constructor(readonly client: HazelcastClient) {}

  async connect(): Promise<LiveClient> {
    const { client } = this;
    // The types promise `isRunning` alone (listeners are meant to be configured before the start), but in 5.6 the
    // service is an EventEmitter. Without it a loss is noticed by failing calls, and members are counted too high.
    const lifecycle = client.getLifecycleService() as LifecycleService & Partial<EventEmitter>;
    if (!lifecycle.isRunning()) throw new Error('the client that was passed in has been shut down: pass a running one');
    const lost = new AbortController();
    const onState = (state: LifecycleState) => meansLost(state) && lost.abort();
    lifecycle.on?.(LIFECYCLE_EVENT, onState);
    const release = async () => {
      lifecycle.off?.(LIFECYCLE_EVENT, onState);
      // Node keeps a signal that others were derived from for as long as somebody listens to them.
      lost.abort();
    };
    return { client, lost: lost.signal, release };
  }
}
