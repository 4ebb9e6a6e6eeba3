import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Gate, tooManyWaits } from './gate.js';
import { show } from '../../core/decision/index.js';
import { onceClosed } from './once-closed.js';

/** Maximum number of heavy answers of one token that its readers have not taken yet. Each may need some 5 MB until then. */
const MOST_EACH = 16;
/** ms after which a reader that took nothing is disconnected. */
const PATIENCE = 30_000;

/**
 * Heavy answers that are made, and on the way to their readers. Limits their number, and ends those whose readers take
 * nothing. Otherwise a few hundred clients that send requests and never read could fill the memory of the application.
 */
@Injectable()
export class UnreadAnswers {
  readonly #gate = new Gate({ mostEach: MOST_EACH, refusal: tooMany });

  /** @throws ProblemError if the readers of this token are too far behind to make another answer */
  expectRoom(user: string): void {
    this.#gate.expectRoom(user);
  }

  /** Call this with each answer that is made, before it is sent. */
  add(user: string, response: ServerResponse, patience = PATIENCE): void {
    const leave = this.#gate.take(user);
    // It counts from the last progress, so a slow reader gets all of its answer.
    response.setTimeout(patience, () => response.destroy());
    onceClosed(response, leave);
  }
}

function tooMany(user = '') {
  return tooManyWaits(
    `${MOST_EACH} large answers of this node to ${show(user)} are not read yet: read them first, or ask another node`,
  );
}
