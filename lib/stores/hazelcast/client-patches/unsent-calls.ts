/**
 * Fault: a call that is still unsent when its connection closes is dropped (PipelinedWriter.close empties its queue),
 *   and its promise stays pending until the client is shut down.
 * Upstream: https://github.com/hazelcast/hazelcast-nodejs-client/pull/1442 introduced the fault. It tries to reject
 *   such calls, but does so only after a socket error. The fault itself is not reported.
 * Versions: 5.6; the same in 5.7.0. A client that is built differently is not changed.
 * Shown by: test/contract/hazelcast-unsent-calls.spec.ts, "is sent over the next one"
 * Goes when: PipelinedWriter.close rejects the calls in its queue.
 */
import type { EventEmitter } from 'node:events';
import type { Client as HazelcastClient } from 'hazelcast-client';
import { oncePerClient } from '../once-per-client.js';

/** Used internals of the client, which its types hide. */
interface Inside {
  getConnectionManager?():
    | undefined
    | (Partial<EventEmitter> & {
        getConnectionRegistry?(): undefined | { forEachConnection?(each: (connection: Connection) => void): void };
      });
}

interface Connection {
  readonly writer?: Writer;
}

interface Writer {
  /** Messages that wait until the socket has accepted the former ones. */
  readonly queue?: Iterable<{ readonly resolver?: { reject?(error: unknown): void } }>;
  /** Why the writer is closed. */
  readonly error?: unknown;
  close?(reason: unknown): void;
}

const CONNECTION_ADDED = 'connectionAdded';

/** Writers that are patched already: an application may use one client for several stores, one after another. */
const patched = new WeakSet<Writer>();

/**
 * Rejects the unsent calls of a closing connection, so that the client sends them over another connection.
 *
 * @returns a function after which new connections are not patched
 */
export const failUnsentCalls = oncePerClient((client) => {
  const connections = (client as HazelcastClient & Inside).getConnectionManager?.();
  const patch = ({ writer }: Connection) => writer && patchClose(writer);
  connections?.getConnectionRegistry?.()?.forEachConnection?.(patch);
  connections?.on?.(CONNECTION_ADDED, patch);
  return () => void connections?.off?.(CONNECTION_ADDED, patch);
});

function patchClose(writer: Writer): void {
  const close = writer.close?.bind(writer);
  if (!close || patched.has(writer)) return;
  patched.add(writer);
  writer.close = (reason) => {
    const unsent = [...(writer.queue ?? [])];
    close(reason);
    for (const { resolver } of unsent) resolver?.reject?.(writer.error ?? reason);
  };
}
