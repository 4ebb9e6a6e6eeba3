/**
 * Fault: a call that waits to be sent when its connection closes is dropped (PipelinedWriter.close empties its queue),
 *   and its promise stays open until the client is shut down.
 * Upstream: https://github.com/hazelcast/hazelcast-nodejs-client/pull/1442 brought it; it means to reject such calls,
 *   and does so only after an error of the socket. The fault itself is not reported.
 * Versions: 5.6; the same in 5.7.0. A client that looks otherwise inside is left alone.
 * Shown by: test/contract/hazelcast-unsent-calls.spec.ts, "is sent over the next one"
 * Goes when: PipelinedWriter.close rejects what is in its queue.
 */
import type { EventEmitter } from 'node:events';
import type { Client as HazelcastClient } from 'hazelcast-client';
import { oncePerClient } from '../once-per-client.js';

/** The part of the client's inside that is used; its types hide it. */
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
  /** Messages that wait until the socket has taken the former ones. */
  readonly queue?: Iterable<{ readonly resolver?: { reject?(error: unknown): void } }>;
  /** Why the writer is closed. */
  readonly error?: unknown;
  close?(reason: unknown): void;
}

const CONNECTION_ADDED = 'connectionAdded';

/** Writers that are patched: an application may give one client to several stores, one after another. */
const patched = new WeakSet<Writer>();

/**
 * Rejects the unsent calls of a connection that closes, so that the client sends them over another one.
 *
 * @returns leaves connections to come alone
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
