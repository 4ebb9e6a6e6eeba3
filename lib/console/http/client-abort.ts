import type { ServerResponse } from 'node:http';
import { type ConsoleResponse, rawResponse } from './console-request.js';
import { onceClosed } from './once-closed.js';

/** The client went away while its call waited: normal for a worker that shuts down, so nothing is logged. */
export class ClientGoneError extends DOMException {
  constructor() {
    super('the client has gone away', 'AbortError');
  }
}

/** One per answer: the check of the input and the handler listen to the same connection. */
const signals = new WeakMap<ServerResponse, AbortSignal>();

/**
 * Returns a signal that aborts when the client disconnects before its answer. Then the work for it can stop. Its reason is a
 * {@link ClientGoneError}.
 */
export function clientAbortOf(response: ConsoleResponse): AbortSignal {
  const raw = rawResponse(response);
  const signal = signals.get(raw) ?? abortOf(raw);
  signals.set(raw, signal);
  return signal;
}

function abortOf(response: ServerResponse): AbortSignal {
  const clientAbort = new AbortController();
  onceClosed(response, () => {
    if (!response.writableEnded) clientAbort.abort(new ClientGoneError());
  });
  return clientAbort.signal;
}
