import { createParser } from 'eventsource-parser';
import { request } from './call.js';

export interface StreamedEvent {
  readonly event: string;
  readonly data: string;
}

/** ms of silence after which a stream counts as dead. The server sends at least a comment every 15 s. */
const LONGEST_SILENCE = 40_000;
/** Characters; no event of the API is longer. */
const LONGEST_EVENT = 8 * 1024 * 1024;

/**
 * Reads server-sent events with fetch, because EventSource can't send the header of the page. Resolves when the stream
 * ends.
 *
 * @param onOpen called as soon as the server has answered
 * @throws ApiError if the server refuses or can't be reached; Error if the stream breaks, is silent, or has too long an
 *   event
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
  // After an event that is too long, the next `feed` throws.
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
