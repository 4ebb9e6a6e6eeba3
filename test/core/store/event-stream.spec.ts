import { Readable } from 'node:stream';
import { type StreamEvent, eventsIn } from '../../../lib/stores/remote/event-stream.js';

const read = async (chunks: Iterable<Uint8Array>): Promise<StreamEvent[]> => {
  const events: StreamEvent[] = [];
  for await (const event of eventsIn(Readable.from(chunks))) events.push(event);
  return events;
};

describe('a stream of server-sent events', () => {
  const TEXT =
    'event: open\ndata: {}\n\n: a comment\n\nevent: change\ndata: {"text":"Zürich 👩‍🚀\\n"}\n\ndata: a\ndata: b\n\nevent: cut';

  it.each([1, 2, 3, 7, 1000])('is read whole, however it comes: %d bytes at a time', async (size) => {
    const bytes = Buffer.from(TEXT);
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.subarray(at * size, (at + 1) * size),
    );
    expect(await read(chunks)).toEqual([
      { type: 'open', data: '{}' },
      { type: 'change', data: '{"text":"Zürich 👩‍🚀\\n"}' },
      { type: 'message', data: 'a\nb' },
    ]);
  });

  it.each(['\r\n', '\r'])('may end its lines with %j', async (end) => {
    expect(await read([Buffer.from(TEXT.replaceAll('\n', end))])).toHaveLength(3);
  });

  it('of lines without an end of the event is given up, too', async () => {
    const endless = function* () {
      for (;;) yield Buffer.from(`data: ${'x'.repeat(1024)}\n`.repeat(1024));
    };
    await expect(read(endless())).rejects.toMatchObject({ type: 'max-buffer-size-exceeded' });
  });

  it('that never ends an event is given up', async () => {
    const endless = function* () {
      for (;;) yield Buffer.alloc(1024 * 1024, 'x');
    };
    await expect(read(endless())).rejects.toThrow('exceeded max buffer size of 8388608 characters');
  });
});
