/**
 * Fault: a write that fails (EPIPE, ECONNRESET) closes the writer of a connection, but not the connection: the writer
 *   destroys the socket first, so that the socket emits no error. The connection stays alive in the registry, and each
 *   call over it fails at once. If the connection that brings the list of members is lost meanwhile,
 *   ClusterViewListenerService tries to register at the dead connection again and again without a pause: the event loop
 *   stops, and memory grows until the process dies.
 * Upstream: not reported
 * Versions: 5.6; the same in 5.7.0. A client that is built differently is not changed.
 * Shown by: verification/servers/contract/hazelcast-failed-writes.spec.ts, "closes its connection"
 * Goes when: a connection closes when its writer does, and ClusterViewListenerService pauses between attempts.
 */
import { type Connection, eachConnection, oncePerClient } from '../patch-once.js';

const patched = new WeakSet<Connection>();

/**
 * Closes a connection when its writer closes.
 *
 * @returns a function after which new connections are not patched
 */
export const closeAfterFailedWrites = oncePerClient((client) => eachConnection(client, patched, patch));

function patch(connection: Connection): void {
  const { writer } = connection;
  const close = writer?.close?.bind(writer);
  if (!writer || !close) return;
  const closeConnection = (cause: unknown) => connection.close?.('A write failed.', cause);
  writer.close = (reason) => {
    close(reason);
    closeConnection(reason);
  };
  if (writer.error) closeConnection(writer.error);
}
