import { request } from './call.js';

export interface StreamedEvent {
  readonly event: string;
  readonly data: string;
}

/** The server says something every 15 s: a stream that is silent for much longer is dead, though nobody closed it. */
const LONGEST_SILENCE = 40_000;

/**
 * Server-sent events over fetch, which can send a token as a header; EventSource can't. Ends when the stream does.
 *
 * @param onOpen called once the server has answered
 * @throws ApiError when the server refused, or the network broke
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
  const parse = eventParser(onEvent);
  const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const timer = setTimeout(() => silence.abort(), LONGEST_SILENCE);
    const { done, value } = await reader.read().finally(() => clearTimeout(timer));
    if (done) return;
    parse(value);
  }
}

/** Takes the stream's text in whatever pieces it comes. */
export function eventParser(onEvent: (event: StreamedEvent) => void): (text: string) => void {
  let rest = '';
  return (text) => {
    const blocks = (rest + text).replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop()!;
    for (const block of blocks) {
      const event = eventOf(block);
      if (event) onEvent(event);
    }
  };
}

function eventOf(block: string): StreamedEvent | undefined {
  const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/.exec(line));
  const valuesOf = (name: string) => fields.flatMap((field) => (field?.[1] === name ? [field[2]!] : []));
  const data = valuesOf('data');
  return data.length > 0 ? { event: valuesOf('event')[0] ?? 'message', data: data.join('\n') } : undefined;
}
