import { type ExecutionContext, createParamDecorator } from '@nestjs/common';
import { type ConsoleResponse, rawResponse } from './console-request.js';
import { onceClosed } from './once-closed.js';

/** Aborts when the client has gone before it was answered: nobody would hear of what is done for it. */
export const Departure = createParamDecorator((_: unknown, context: ExecutionContext): AbortSignal => {
  const departure = new AbortController();
  const response = rawResponse(context.switchToHttp().getResponse<ConsoleResponse>());
  onceClosed(response, () => {
    if (!response.writableEnded) departure.abort();
  });
  return departure.signal;
});
