import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { type ConsoleResponse, rawResponse } from './console-request.js';
import { onceClosed } from './once-closed.js';

/** Aborts when the client has gone before it was answered: nobody would hear of what is done for it. */
export const ClientAbort = createParamDecorator((_: unknown, context: ExecutionContext): AbortSignal => {
  const clientAbort = new AbortController();
  const response = rawResponse(context.switchToHttp().getResponse<ConsoleResponse>());
  onceClosed(response, () => {
    if (!response.writableEnded) clientAbort.abort();
  });
  return clientAbort.signal;
});
