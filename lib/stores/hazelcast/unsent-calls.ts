import type { EventEmitter } from 'node:events';
import type { Client as HazelcastClient } from 'hazelcast-client';

/** What the client is like inside, in 5.6; its types don't tell. */
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
  /** What is to be sent once the socket has taken what was sent before. */
  readonly queue?: Iterable<{ readonly resolver?: { reject?(error: unknown): void } }>;
  /** Why it is closed. */
  readonly error?: unknown;
  close?(reason: unknown): void;
}

const CONNECTION_ADDED = 'connectionAdded';

/** Those that are mended: a client may be given to several stores, one after another. */
const mended = new WeakSet<Writer>();

/**
 * Fails what still waits to be sent when its connection closes, so that the client sends it over another one. By itself
 * it drops that without a word (PipelinedWriter.close in 5.6), and whoever asked waits until the client is shut down. A
 * client that looks otherwise inside is left alone.
 *
 * @returns stops it for connections to come
 */
export function failUnsentCalls(client: HazelcastClient): () => void {
  const connections = (client as HazelcastClient & Inside).getConnectionManager?.();
  const mend = ({ writer }: Connection) => writer && mendClose(writer);
  connections?.getConnectionRegistry?.()?.forEachConnection?.(mend);
  connections?.on?.(CONNECTION_ADDED, mend);
  return () => void connections?.off?.(CONNECTION_ADDED, mend);
}

function mendClose(writer: Writer): void {
  const close = writer.close?.bind(writer);
  if (!close || mended.has(writer)) return;
  mended.add(writer);
  writer.close = (reason) => {
    const unsent = [...(writer.queue ?? [])];
    close(reason);
    for (const { resolver } of unsent) resolver?.reject?.(writer.error ?? reason);
  };
}
