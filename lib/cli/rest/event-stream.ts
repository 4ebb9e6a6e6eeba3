import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { ReadableStream as NodeReadableStream } from 'node:stream/web';

/** Calls `onEvent` with the name of each event of a text/event-stream, until it ends or the signal aborts. */
export async function eachEvent(
  stream: ReadableStream<Uint8Array>,
  signal: AbortSignal,
  onEvent: (name: string) => void,
): Promise<void> {
  const input = Readable.fromWeb(stream as NodeReadableStream<Uint8Array>, { signal });
  for await (const line of createInterface({ input, crlfDelay: Infinity })) {
    if (line.startsWith('event:')) onEvent(line.slice('event:'.length).trim());
  }
}
