import { createParser } from 'eventsource-parser';
import { request } from './call.js';

export interface StreamedEvent {
  readonly event: string;
  readonly data: string;
}

/** ms of silence after which a stream is dead: the server sends at least a comment every 15 s. */
const LONGEST_SILENCE = 40_000;
/** Characters; more than any event of the API has. */
const LONGEST_EVENT = 8 * 1024 * 1024;

/**
 * Server-sent events over fetch, which can send a token as a header; EventSource can't. Ends when the stream does.
 *
 * @param onOpen called once the server has answered
 * @throws ApiError when the server refused, or the network broke; Error when an event has no end
 */
export async function listen(
  path: string,
  signal: AbortSignal,
  onOpen: () => void,
  onEvent: (event: StreamedEvent) => void,
): Promise<void> {
  const silence = new AbortController();
  const response = await request(path, {
    accept: 'text/event-stream',
    signal: AbortSignal.any([signal, silence.signal]),
  });
  onOpen();
  // Once an event is too long, the next `feed` throws.
  const parser = createParser({
    maxBufferSize: LONGEST_EVENT,
    onEvent: ({ event = 'message', data }) => onEvent({ event, data }),
  });
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const timer = setTimeout(() => silence.abort(), LONGEST_SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    parser.feed(value);
  }
}
