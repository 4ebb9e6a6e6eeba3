import type { Readable } from 'node:stream';

/** One server-sent event. */
export interface StreamEvent {
  readonly type: string;
  readonly data: string;
}

/** Characters; more than any event of the protocol has. */
const LONGEST = 8 * 1024 * 1024;

/**
 * The events of a stream, as `text/event-stream` has them; comments and other fields are passed over.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html
 */
export async function* eventsIn(body: Readable): AsyncGenerator<StreamEvent> {
  let rest = '';
  for await (const chunk of body.setEncoding('utf8') as AsyncIterable<string>) {
    const blocks = (rest + chunk).split('\n\n');
    rest = blocks.pop()!;
    if (rest.length > LONGEST) throw new Error('an event has no end');
    yield* blocks.flatMap(eventIn);
  }
}

function eventIn(block: string): StreamEvent[] {
  const fields = block.split('\n').map((line) => /^(\w+): ?(.*)$/s.exec(line));
  const valuesOf = (name: string) => fields.flatMap((field) => (field?.[1] === name ? [field[2]!] : []));
  const data = valuesOf('data');
  return data.length > 0 ? [{ type: valuesOf('event').at(-1) ?? 'message', data: data.join('\n') }] : [];
}
