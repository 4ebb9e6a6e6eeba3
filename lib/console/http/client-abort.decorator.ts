import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { type ConsoleResponse, rawResponse } from './console-request.js';
import { onceClosed } from './once-closed.js';

/** The client went away while its call waited: normal for a worker that shuts down, so nothing is logged. */
export class ClientGoneError extends DOMException {
  constructor() {
    super('the client has gone away', 'AbortError');
  }
}

/** Injects a signal that aborts when the client disconnects before its answer. Then the work for it can stop. */
export const ClientAbort = createParamDecorator((_: unknown, context: ExecutionContext): AbortSignal => {
  const clientAbort = new AbortController();
  const response = rawResponse(context.switchToHttp().getResponse<ConsoleResponse>());
  onceClosed(response, () => {
    if (!response.writableEnded) clientAbort.abort(new ClientGoneError());
  });
  return clientAbort.signal;
});
