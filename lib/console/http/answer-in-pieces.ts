import { Readable } from 'node:stream';
import { Injectable, StreamableFile } from '@nestjs/common';
import { Gate, tooManyWaits } from './gate.js';
import { systemClock } from '../../core/async/node-clock.js';
import { Slices } from '../../core/async/slices.js';
import { show } from '../../core/decision/index.js';
import { clientAbortOf } from './client-abort.js';
import { type ConsoleCall, rawResponse, visitorOf } from './console-request.js';
import type { Handler } from './handlers.js';
import { isLong, jsonInPieces } from './json-in-pieces.js';
import { UnreadAnswers } from './unread-answers.js';

/** Number of characters that are sent together. */
const CHUNK = 64 * 1024;
/** Number of heavy answers that are made at the same time. Each may need some 10 MB until it is made. */
const MOST_HEAVY = 4;
/** Number of requests of one token that wait for their turn. */
const MOST_WAITING_EACH = 100;
const JSON_TYPE = 'application/json; charset=utf-8';

/**
 * Sends a long answer piece by piece, while it is written. JSON of thousands of semaphores in one go would block the
 * event loop for tens of ms. A slow reader slows down the writing, so unsent text takes no memory.
 */
@Injectable()
export class AnswerInPieces {
  /**
   * Only a few heavy answers are made at the same time. Otherwise some dozens of requests of the role `view` could fill the
   * memory of the application.
   */
  readonly heavy = new Gate({ most: MOST_HEAVY, mostWaitingEach: MOST_WAITING_EACH, refusal: tooManyHeavy });

  constructor(private readonly unreadAnswers: UnreadAnswers) {}

  /** Lets a handler make its answer. @returns what the server can send without a long block */
  async make(call: ConsoleCall, handler: Handler): Promise<unknown> {
    // Many requests that arrive together are served in several turns of the event loop.
    await Slices.of(systemClock).turn();
    const answer = await (call.route.isHeavy ? this.#makeHeavy(call, handler) : handler.handle(call));
    return isWritten(answer) || !isLong(answer) ? answer : sent(answer);
  }

  #makeHeavy(call: ConsoleCall, handler: Handler): Promise<unknown> {
    const { user } = visitorOf(call);
    const make = async () => {
      this.unreadAnswers.expectRoom(user);
      const answer = await handler.handle(call);
      this.unreadAnswers.add(user, rawResponse(call.response));
      return answer;
    };
    return this.heavy.during(user, make, clientAbortOf(call.response));
  }
}

function tooManyHeavy(user = '') {
  return tooManyWaits(
    `${MOST_WAITING_EACH} requests of ${show(user)} for large answers wait on this node already: repeat it later, or ask another node`,
  );
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
