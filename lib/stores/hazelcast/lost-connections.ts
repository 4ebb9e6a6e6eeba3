import type { EventEmitter } from 'node:events';
import type { Client as HazelcastClient } from 'hazelcast-client';

/** What the client is like inside, in 5.6; its types don't tell. */
interface Inside {
  getConnectionManager?(): Partial<EventEmitter> | undefined;
  getInvocationService?():
    | undefined
    | {
        /** Who hears events, by the id of the request that asked for them. */
        readonly invocationsWithEventHandlers?: Map<unknown, { readonly connection?: unknown }>;
      };
}

const CONNECTION_REMOVED = 'connectionRemoved';

/**
 * Frees what the client keeps of a connection that was lost. It never forgets who heard of the cluster's members over
 * it (ClusterViewListenerService in 5.6; others of its listeners it does forget), and so keeps the connection and its
 * buffers: 76 kB for a restarted member (measured). A client that looks otherwise inside is left alone.
 *
 * @returns stops it
 */
export function forgetLostConnections(client: HazelcastClient): () => void {
  const inside = client as HazelcastClient & Inside;
  const connections = inside.getConnectionManager?.();
  const handlers = inside.getInvocationService?.()?.invocationsWithEventHandlers;
  if (!(handlers instanceof Map)) return () => undefined;
  const forget = (lost: unknown) => {
    for (const [id, { connection }] of handlers) if (connection === lost) handlers.delete(id);
  };
  connections?.on?.(CONNECTION_REMOVED, forget);
  return () => void connections?.off?.(CONNECTION_REMOVED, forget);
}
