import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';

/** One server-sent event. */
export interface StreamEvent {
  readonly type: string;
  readonly data: string;
}

/** Limit in characters, larger than any event of the protocol. A line without an end must not fill the memory. */
const LONGEST = 8 * 1024 * 1024;

/**
 * Reads a stream of server-sent events (`text/event-stream`).
 *
 * @throws ParseError if an event is too long
 */
export async function* eventsIn(body: Readable): AsyncGenerator<StreamEvent> {
  const events: StreamEvent[] = [];
  const parser = createParser({
    maxBufferSize: LONGEST,
    onEvent: ({ event = 'message', data }) => events.push({ type: event, data }),
    onError(error) {
      // Unknown fields are ignored, as the format requires.
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
  });
  for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
    parser.feed(chunk);
    yield* events.splice(0);
  }
}
