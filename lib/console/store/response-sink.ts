import { type ConsoleResponse, rawResponse } from '../http/console-request.js';
import type { Sink } from './change-stream.js';

const HEADERS = {
  'Content-Type': 'text/event-stream',
  'Cache-Control': 'no-store, no-transform',
  'X-Content-Type-Options': 'nosniff',
  // nginx would gather what it is to pass on at once.
  'X-Accel-Buffering': 'no',
};

/** An answer that goes on: server-sent events, on Express as on Fastify. */
export function responseSink(response: ConsoleResponse & { hijack?(): void }): Sink {
  const raw = rawResponse(response);
  let hasBegun = false;
  const begin = () => {
    hasBegun = true;
    // From here on Fastify leaves the answer to us.
    response.hijack?.();
    raw.writeHead(200, HEADERS);
  };
  return {
    write: (type, data) => {
      if (!hasBegun) begin();
      return raw.write(`event: ${type}\ndata: ${JSON.stringify(data)}\n\n`);
    },
    onDrained: (ready) => void raw.on('drain', ready),
    onClosed: (closed) => void raw.once('close', closed),
    end: () => void raw.end(),
  };
}
