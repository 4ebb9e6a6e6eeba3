import { Readable } from 'node:stream';
import { type CallHandler, type NestInterceptor, StreamableFile } from '@nestjs/common';
import { type Observable, map } from 'rxjs';
import { systemClock } from '../../async/node-clock.js';
import { Slices } from '../../async/slices.js';
import { isLong, jsonInPieces } from './json-in-pieces.js';

/** Number of characters that are sent together. */
const CHUNK = 64 * 1024;
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends a long answer piece by piece, while it is written. JSON of thousands of semaphores in one go would block the
 * event loop for tens of ms. A slow reader slows down the writing, so unsent text takes no memory.
 */
export class AnswerInPieces implements NestInterceptor {
  async intercept(_context: unknown, next: CallHandler): Promise<Observable<unknown>> {
    // Many requests that arrive together are served in several turns of the event loop.
    await Slices.of(systemClock).turn();
    return next.handle().pipe(map((answer: unknown) => (isWritten(answer) || !isLong(answer) ? answer : sent(answer))));
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
