/**
 * Fault: a call that is still unsent when its connection closes is dropped (PipelinedWriter.close empties its queue),
 *   and its promise stays pending until the client is shut down.
 * Upstream: https://github.com/hazelcast/hazelcast-nodejs-client/pull/1442 introduced the fault. It tries to reject
 *   such calls, but does so only after a socket error. The fault itself is not reported.
 * Versions: 5.6; the same in 5.7.0. A client that is built differently is not changed.
 * Shown by: verification/servers/contract/hazelcast-unsent-calls.spec.ts, "is sent over the next one"
 * Goes when: PipelinedWriter.close rejects the calls in its queue.
 */
import { type Connection, eachConnection, oncePerClient } from '../patch-once.js';

const patched = new WeakSet<Connection>();

/**
 * Rejects the unsent calls of a closing connection, so that the client sends them over another connection.
 *
 * @returns a function after which new connections are not patched
 */
export const failUnsentCalls = oncePerClient((client) => eachConnection(client, patched, patch));

function patch({ writer }: Connection): void {
  const close = writer?.close?.bind(writer);
  if (!writer || !close) return;
  writer.close = (reason) => {
    const unsent = [...(writer.queue ?? [])];
    close(reason);
    for (const { resolver } of unsent) resolver?.reject?.(writer.error ?? reason);
  };
}
