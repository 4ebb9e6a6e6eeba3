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
    // It has passed the schemas of this operation.
    const input = (await readInput(call)) as Parameters<Operation['run']>[1];
    const visitor = visitorOf(call);
    const signal = clientAbortOf(response);
    const caller: Caller = { ...visitor, sees: visitor.names?.matches, limits: this.limits, signal };
    const answer = await operation.run(partsOf(this.gatekeeper), input, caller);
    if (operation.isOther?.(answer)) response.status(operation.otherStatus![0]);
    if (operation.essence && (await isKnownToClient(request, response, operation.essence(answer)))) return undefined;
    return operation.asText && wantsText(operation, input.query, request.headers.accept)
      ? fileOf(operation, operation.asText(answer))
      : answer;
  }
}

/** The other form only for a client that names it and not JSON, because browsers accept everything. */
function wantsText({ otherMediaType = '' }: Operation, query: unknown, accept = ''): boolean {
  const { format } = (query ?? {}) as { readonly format?: string };
  if (format !== undefined) return otherMediaType.endsWith(`/${format}`);
  const accepted = new Set(accept.toLowerCase().split(/[,;\s]+/));
  return accepted.has(otherMediaType) && !accepted.has('application/json');
}

function fileOf({ otherMediaType }: Operation, text: ReturnType<NonNullable<Operation['asText']>>): StreamableFile {
  return new StreamableFile(Readable.from(text.pieces, { objectMode: false }), {
    type: `${otherMediaType}; charset=utf-8`,
    disposition: `attachment; filename="${text.fileName}"`,
  });
}
