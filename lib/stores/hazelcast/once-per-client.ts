import type { Client as HazelcastClient } from 'hazelcast-client';

/** Changes a client, and returns the function that ends it. */
type Patch = (client: HazelcastClient) => () => void;

/**
 * The same patch, applied once to a client that several stores share, and ended with the last of them: each one would add
 * a listener of its own, and Node warns of a leak from the eleventh on.
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
