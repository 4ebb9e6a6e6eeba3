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
