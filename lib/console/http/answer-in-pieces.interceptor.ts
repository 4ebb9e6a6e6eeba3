import { Readable } from 'node:stream';
import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  StreamableFile,
} from '@nestjs/common';
import { type Observable, from, lastValueFrom, map } from 'rxjs';
import { systemClock } from '../../async/node-clock.js';
import { Slices } from '../../async/slices.js';
import type { Route } from '../api/index.js';
import { ROUTE_METADATA, VISITOR } from '../console.constants.js';
import { clientAbortOf } from './client-abort.decorator.js';
import { type ConsoleRequest, type ConsoleResponse, rawResponse } from './console-request.js';
import { HeavyAnswers } from './heavy-answers.js';
import { isLong, jsonInPieces } from './json-in-pieces.js';
import { UnreadAnswers } from './unread-answers.js';

/** Number of characters that are sent together. */
const CHUNK = 64 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends a long answer piece by piece, while it is written. JSON of thousands of semaphores in one go would block the
 * event loop for tens of ms. A slow reader slows down the writing, so unsent text takes no memory.
 */
@Injectable()
export class AnswerInPieces implements NestInterceptor {
  constructor(
    private readonly heavyAnswers: HeavyAnswers,
    private readonly unreadAnswers: UnreadAnswers,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    // Many requests that arrive together are served in several turns of the event loop.
    await Slices.of(systemClock).turn();
    return this.#handled(context, next).pipe(
      map((answer: unknown) => (isWritten(answer) || !isLong(answer) ? answer : sent(answer))),
    );
  }

  #handled(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { isHeavy }: Route = Reflect.getMetadata(ROUTE_METADATA, context.getHandler());
    if (!isHeavy) return next.handle();
    const http = context.switchToHttp();
    const { user } = http.getRequest<ConsoleRequest>()[VISITOR]!;
    const response = http.getResponse<ConsoleResponse>();
    const make = async () => {
      this.unreadAnswers.expectRoom(user);
      const answer: unknown = await lastValueFrom(next.handle());
      this.unreadAnswers.add(user, rawResponse(response));
      return answer;
    };
    return from(this.heavyAnswers.during(user, make, clientAbortOf(response)));
  }
}

function isWritten(answer: unknown): boolean {
  return answer instanceof StreamableFile || typeof answer === 'string';
}

function sent(answer: object): StreamableFile {
  return new StreamableFile(Readable.from(chunksOf(answer), { objectMode: false }), { type: JSON_TYPE });
}

async function* chunksOf(answer: object): AsyncGenerator<Buffer> {
  const slices = Slices.of(systemClock);
  let text = '';
  for (const piece of jsonInPieces(answer)) {
    if (slices.isOver) await slices.turn();
    text += piece;
    if (text.length < CHUNK) continue;
    yield Buffer.from(text);
    text = '';
  }
  yield Buffer.from(text);
}
