import { Readable } from 'node:stream';
import { Injectable, StreamableFile } from '@nestjs/common';
import { partsOf } from '../../gatekeeper/index.js';
import { GatekeeperService } from '../../nest/gatekeeper.service.js';
import { CallLimits } from '../access/call-limits.js';
import { type Caller, OPERATIONS, type Operation } from '../api/index.js';
import { clientAbortOf } from '../http/client-abort.js';
import { isKnownToClient } from '../http/conditional.js';
import { type ConsoleCall, visitorOf } from '../http/console-request.js';
import type { Controller, Handler } from '../http/handlers.js';
import { readInput } from '../http/input.js';

/** Answers the operations of the catalogue over HTTP. */
@Injectable()
export class OperationsController implements Controller {
  readonly handlers: readonly Handler[] = Object.values<Operation>(OPERATIONS).map((operation) => ({
    route: operation,
    handle: (call) => this.#answer(operation, call),
  }));

  constructor(
    private readonly gatekeeper: GatekeeperService,
    private readonly limits: CallLimits,
  ) {}

  /** @returns the answer in the form that the client wants; nothing if the client has it already */
  async #answer(operation: Operation, call: ConsoleCall): Promise<unknown> {
    const { request, response } = call;
    const input = await readInput(call);
    const visitor = visitorOf(call);
    const signal = clientAbortOf(response);
    const takesRecent = mayBeRecent(request.headers['cache-control']);
    const caller: Caller = { ...visitor, sees: visitor.names?.matches, limits: this.limits, signal, takesRecent };
    const answer = await operation.run(partsOf(this.gatekeeper), input, caller);
    const { other, essence, text } = operation;
    if (other?.applies(answer)) response.status(other.status);
    if (essence && (await isKnownToClient(request, response, essence(answer)))) return undefined;
    return text && wantsText(text, input.query, request.headers.accept) ? fileOf(text, answer) : answer;
  }
}

/** Whether the client takes an answer that is a second old: RFC 9111, section 5.2.1.1. */
function mayBeRecent(cacheControl = ''): boolean {
  return !/\bno-cache\b/i.test(cacheControl) && /\bmax-age=0*[1-9]/i.test(cacheControl);
}

type Text = NonNullable<Operation['text']>;

/** The text only for a client that names it and not JSON, because browsers accept everything. */
function wantsText({ mediaType }: Text, query: unknown, accept = ''): boolean {
  const { format } = (query ?? {}) as { readonly format?: string };
  if (format !== undefined) return mediaType.endsWith(`/${format}`);
  const accepted = new Set(accept.toLowerCase().split(/[,;\s]+/));
  return accepted.has(mediaType) && !accepted.has('application/json');
}

function fileOf({ mediaType, fileName, write }: Text, answer: unknown): StreamableFile {
  return new StreamableFile(Readable.from(write(answer), { objectMode: false }), {
    type: `${mediaType}; charset=utf-8`,
    disposition: `attachment; filename="${fileName}"`,
  });
}
