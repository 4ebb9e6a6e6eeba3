import type { Readable } from 'node:stream';
import { createParser } from 'eventsource-parser';

/** One server-sent event. */
export interface StreamEvent {
  readonly type: string;
  readonly data: string;
}

/** Characters; more than any event of the protocol has. A line without an end must not fill the memory. */
const LONGEST = 8 * 1024 * 1024;

/**
 * The events of a stream of server-sent events (`text/event-stream`).
 *
 * @throws ParseError when an event has no end
 */
export async function* eventsIn(body: Readable): AsyncGenerator<StreamEvent> {
  const events: StreamEvent[] = [];
  const parser = createParser({
    maxBufferSize: LONGEST,
    onEvent: ({ event = 'message', data }) => events.push({ type: event, data }),
    onError(error) {
      // Fields that the format does not know are ignored, as it demands.
      if (error.type === 'max-buffer-size-exceeded') throw error;
    },
  });
  for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
    parser.feed(chunk);
    yield* events.splice(0);
  }
}
