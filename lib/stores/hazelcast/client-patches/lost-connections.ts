/**
 * Fault: the client keeps a lost connection with its buffers, if it got the list of members over that connection: 76 kB
 *   for each restart of a member (measured). ClusterViewListenerService never removes its event handler;
 *   ListenerService does.
 * Upstream: not reported. https://github.com/hazelcast/hazelcast-nodejs-client/issues/1347 was another leak of lost
 *   connections, and is fixed.
 * Versions: 5.6; the same in 5.7.0. A client that is built differently is not changed.
 * Shown by: verification/servers/contract/hazelcast-lets-go.spec.ts, "lets go of the connection that was lost"
 * Goes when: ClusterViewListenerService removes the event handler of a connection that was removed.
 */
import type { EventEmitter } from 'node:events';
import type { Client as HazelcastClient } from 'hazelcast-client';
import { oncePerClient } from '../patch-once.js';

/** Used internals of the client, which its types hide. */
interface Inside {
  getConnectionManager?(): Partial<EventEmitter> | undefined;
  getInvocationService?():
    | undefined
    | {
        /** Event handlers, by the id of the request that registered them. */
        readonly invocationsWithEventHandlers?: Map<unknown, { readonly connection?: unknown }>;
      };
}

const CONNECTION_REMOVED = 'connectionRemoved';

/**
 * Removes the event handlers of connections that the client loses.
 *
 * @returns a function that ends the patch
 */
export const forgetLostConnections = oncePerClient((client) => {
  const inside = client as HazelcastClient & Inside;
  const connections = inside.getConnectionManager?.();
  const handlers = inside.getInvocationService?.()?.invocationsWithEventHandlers;
  if (!(handlers instanceof Map)) return () => undefined;
  const forget = (lost: unknown) => {
    for (const [id, { connection }] of handlers) if (connection === lost) handlers.delete(id);
  };
  connections?.on?.(CONNECTION_REMOVED, forget);
  return () => void connections?.off?.(CONNECTION_REMOVED, forget);
});
