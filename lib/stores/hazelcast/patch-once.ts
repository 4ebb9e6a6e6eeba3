import type { EventEmitter } from 'node:events';
import type { Client as HazelcastClient } from 'hazelcast-client';

/** Changes a client, and returns a function that ends the change. */
type Patch = (client: HazelcastClient) => () => void;

/**
 * Returns a patch that is applied only once to a client that several stores share. It ends when the last store ends it.
 * Otherwise each store would add its own listener, and Node warns about a leak from the eleventh listener on.
 */
export function oncePerClient(patch: Patch): Patch {
  const applied = new WeakMap<HazelcastClient, { users: number; readonly end: () => void }>();
  return (client) => {
    const shared = applied.get(client) ?? { users: 0, end: patch(client) };
    applied.set(client, shared);
    shared.users++;
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      if (--shared.users > 0) return;
      applied.delete(client);
      shared.end();
    };
  };
}

/** Used internals of the client, which its types hide. All are optional: another version may lack them. */
interface Inside {
  getConnectionManager?():
    | undefined
    | (Partial<EventEmitter> & {
        getConnectionRegistry?(): undefined | { forEachConnection?(each: (connection: Connection) => void): void };
      });
}

/** A connection of the client to one member. */
export interface Connection {
  readonly writer?: Writer;
  /** Does nothing if the connection is closed already. */
  close?(reason: string, cause: unknown): void;
}

interface Writer {
  /** Messages that wait until the socket has accepted the former ones. */
  readonly queue?: Iterable<{ readonly resolver?: { reject?(error: unknown): void } }>;
  /** Why the writer is closed. */
  readonly error?: unknown;
  close?(reason: unknown): void;
}

const CONNECTION_ADDED = 'connectionAdded';

/**
 * Calls `patch` once with each connection that a client has and will have.
 *
 * @param patched connections that are patched already: an application may use one client for several stores in turn
 * @returns a function after which new connections are not patched
 */
export function eachConnection(
  client: HazelcastClient,
  patched: WeakSet<Connection>,
  patch: (connection: Connection) => void,
): () => void {
  const connections = (client as HazelcastClient & Inside).getConnectionManager?.();
  const patchOnce = (connection: Connection) => {
    if (patched.has(connection)) return;
    patched.add(connection);
    patch(connection);
  };
  connections?.getConnectionRegistry?.()?.forEachConnection?.(patchOnce);
  connections?.on?.(CONNECTION_ADDED, patchOnce);
  return () => void connections?.off?.(CONNECTION_ADDED, patchOnce);
}
